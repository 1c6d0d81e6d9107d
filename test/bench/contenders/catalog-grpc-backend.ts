import { fileURLToPath } from 'node:url'
import { Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { announceProgram } from '../src/serve-program.ts'
import { product, products } from './catalog.ts'

// Replies are encoded once: the backend should take as little of the machine as it can.
const definition = loadSync(fileURLToPath(new URL('catalog.proto', import.meta.url)))
const service = definition['bench.v1.CatalogService'] as ServiceDefinition
const reply = (method: string, value: object): Buffer => service[method]!.responseSerialize(value)
const one = reply('GetProduct', product(1))
const hundred = reply('ListProducts', { items: products(100) })
const raw: ServiceDefinition = Object.fromEntries(
  Object.entries(service).map(([name, method]) => [
    name,
    { ...method, responseSerialize: (bytes: Buffer) => bytes },
  ]),
)

const server = new Server()
server.addService(raw, {
  GetProduct: (_call: unknown, done: (error: null, bytes: Buffer) => void) => done(null, one),
  ListProducts: (_call: unknown, done: (error: null, bytes: Buffer) => void) => done(null, hundred),
})
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error
  announceProgram(`127.0.0.1:${port}`)
})
