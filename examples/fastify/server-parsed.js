import fastify from 'fastify'
import { yoga } from './yoga.js'

const app = fastify()
app.all('/graphql', answer)
app.all('/graphql/*', answer)
await app.listen({ port: Number(process.env.PORT ?? 4000) })

function answer(request, reply) {
  // Fastify has read the body: what it made of it is handed on.
  request.raw.body = request.body
  reply.hijack()
  return yoga(request.raw, reply.raw)
}
