import fastify from 'fastify'
import mercurius from 'mercurius'
import { announceProgram } from '../src/serve-program.ts'
import { versionsOf } from '../src/versions.ts'
import { client } from './posts-clients.ts'
import { typeDefs, type Post, type User } from './posts.ts'

// Mercurius' own batching: loaders.
const app = fastify()
await app.register(mercurius, {
  schema: typeDefs,
  resolvers: {
    Query: { posts: (_root: unknown, args: unknown) => client.posts((args as { limit: number }).limit) },
  },
  loaders: {
    Post: {
      async author(queries: readonly { obj: Post }[]) {
        const ids = [...new Set(queries.map(({ obj }) => obj.userId))]
        const found = new Map((await client.users(ids)).map((user) => [user.id, user]))
        return queries.map(({ obj }) => found.get(obj.userId) as User)
      },
    },
  },
  jit: 1,
})
announceProgram(
  await app.listen({ port: 0, host: '127.0.0.1' }),
  versionsOf(['mercurius', 'fastify', '@grpc/grpc-js', '@grpc/proto-loader', 'graphql'], import.meta.url),
)
