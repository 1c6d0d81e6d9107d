import { fileURLToPath } from 'node:url'
import { Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { announceProgram } from '../../src/serve-program.ts'
import { productOf, products, userOf, users } from './data.ts'

const definition = loadSync(fileURLToPath(new URL('supply.proto', import.meta.url)))
const server = new Server()

type Answer = (request: Record<string, unknown>) => object

/** Each answer is encoded once: the backend should take as little of the machine as it can. */
function add(name: string, answers: Readonly<Record<string, Answer>>): void {
  const service = definition[`bench.supply.v1.${name}`] as ServiceDefinition
  const raw: Record<string, ServiceDefinition[string]> = {}
  const handlers: Record<string, (call: unknown, done: (error: null, bytes: Buffer) => void) => void> = {}
  for (const [method, answer] of Object.entries(answers)) {
    const of = service[method]!
    const known = new Map<string, Buffer>()
    raw[method] = { ...of, responseSerialize: (bytes: Buffer) => bytes }
    handlers[method] = (call, done) => {
      const { request } = call as { readonly request: Record<string, unknown> }
      const key = JSON.stringify(request)
      let bytes = known.get(key)
      if (!bytes) known.set(key, (bytes = of.responseSerialize(answer(request))))
      done(null, bytes)
    }
  }
  server.addService(raw, handlers)
}

add('UserService', {
  ListUsers: () => ({ items: users }),
  BatchGetUsers: ({ ids }) => ({ items: (ids as string[]).map(userOf) }),
})
add('ProductService', {
  TopProducts: ({ limit }) => ({ items: products.slice(0, limit as number) }),
  BatchGetProducts: ({ upcs }) => ({ items: (upcs as string[]).map(productOf) }),
})
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error
  announceProgram(`127.0.0.1:${port}`)
})
