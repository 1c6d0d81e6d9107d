import { fileURLToPath } from 'node:url'
import { Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { announceProgram } from '../src/serve-program.ts'
import { product, products } from './catalog.ts'

// Replies are encoded once: the backend should take as little of the machine as it can.
const definition = loadSync(fileURLToPath(new URL('catalog.proto', import.meta.url)))
const service = definition['bench.v1.CatalogService'] as ServiceDefinition
const reply = (method: string, value: object): Buffer => service[method]!.responseSerialize(value)
const known = new Map<string, Buffer>()

function one(id: string): Buffer {
  let bytes = known.get(id)
  if (!bytes) known.set(id, (bytes = reply('GetProduct', product(Number(id)))))
  return bytes
}

const lists = new Map<number, Buffer>()

function list(limit: number): Buffer {
  let bytes = lists.get(limit)
  if (!bytes) lists.set(limit, (bytes = reply('ListProducts', { items: products(limit) })))
  return bytes
}

const raw: ServiceDefinition = Object.fromEntries(
  Object.entries(service).map(([name, method]) => [
    name,
    { ...method, responseSerialize: (bytes: Buffer) => bytes },
  ]),
)

const server = new Server()
const sendOne = (
  { request }: { readonly request: { readonly id: string } },
  done: (error: null, bytes: Buffer) => void,
): void => done(null, one(request.id))
server.addService(raw, {
  GetProduct: sendOne,
  UpdateProduct: sendOne,
  ListProducts: (
    { request }: { readonly request: { readonly limit: number } },
    done: (error: null, bytes: Buffer) => void,
  ) => done(null, list(request.limit)),
})
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error
  announceProgram(`127.0.0.1:${port}`)
})
