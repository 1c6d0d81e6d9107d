import fastify from 'fastify'
import mercurius from 'mercurius'
import { announceProgram } from '../src/serve-program.ts'
import { versionsOf } from '../src/versions.ts'

const app = fastify()
await app.register(mercurius, {
  schema: 'type Query { hello: String }',
  resolvers: { Query: { hello: () => 'world' } },
  jit: 1,
})
announceProgram(
  await app.listen({ port: 0, host: '127.0.0.1' }),
  versionsOf(['mercurius', 'fastify', 'graphql'], import.meta.url),
)
