import fastify from 'fastify'
import mercurius from 'mercurius'

const app = fastify()
await app.register(mercurius, {
  schema: 'type Query { hello: String }',
  resolvers: { Query: { hello: () => 'world' } },
  jit: 1,
})
console.log(`listening on ${await app.listen({ port: 0, host: '127.0.0.1' })}`)
