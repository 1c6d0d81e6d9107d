import fastify from 'fastify'
import { yoga } from './yoga.js'

const app = fastify()
app.register((scope, _options, done) => {
  // Yoga reads the body, and writes the answer.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _body, next) => next(null))
  scope.all('/graphql', answer)
  scope.all('/graphql/*', answer)
  done()
})
await app.listen({ port: Number(process.env.PORT ?? 4000) })

function answer(request, reply) {
  reply.hijack()
  return yoga(request.raw, reply.raw)
}
