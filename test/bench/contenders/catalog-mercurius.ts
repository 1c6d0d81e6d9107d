import fastify from 'fastify'
import mercurius from 'mercurius'
import { announceProgram } from '../src/serve-program.ts'
import { versionsOf } from '../src/versions.ts'
import { resolvers } from './catalog-resolvers.ts'
import { typeDefs } from './catalog.ts'

const app = fastify()
await app.register(mercurius, { schema: typeDefs, resolvers: resolvers as never, jit: 1 })
announceProgram(
  await app.listen({ port: 0, host: '127.0.0.1' }),
  versionsOf(['mercurius', 'fastify', '@grpc/grpc-js', '@grpc/proto-loader', 'graphql'], import.meta.url),
)
