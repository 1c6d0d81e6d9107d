import { fileURLToPath } from 'node:url'
import { Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { announceProgram } from '../src/serve-program.ts'
import { posts, user } from './posts.ts'

// The list is encoded once: the backend should take as little of the machine as it can.
const definition = loadSync(fileURLToPath(new URL('posts.proto', import.meta.url)))
const postService = definition['bench.v1.PostService'] as ServiceDefinition
const userService = definition['bench.v1.UserService'] as ServiceDefinition
const list = postService['ListPosts']!.responseSerialize({ items: posts })

type Done = (error: null, reply: unknown) => void

/** Milliseconds that a join takes; of joins alone, so that what they are joined to is there at once. */
const joinMs = Number(process.env['BENCH_JOIN_MS'] ?? 0)

const server = new Server()
server.addService(
  {
    ListPosts: { ...postService['ListPosts']!, responseSerialize: (bytes: Buffer) => bytes },
  },
  { ListPosts: (_call: unknown, done: Done) => done(null, list) },
)
server.addService(userService, {
  GetUser: ({ request }: { request: { id: string } }, done: Done) => done(null, user(request.id)),
  BatchGetUsers({ request }: { request: { ids: string[] } }, done: Done) {
    const answer = (): void => done(null, { users: request.ids.map(user) })
    if (joinMs > 0) setTimeout(answer, joinMs)
    else answer()
  },
})
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error
  announceProgram(`127.0.0.1:${port}`)
})
