import { createServer } from 'node:http'
import { createSchema, createYoga } from 'graphql-yoga'
import { serveProgram } from '../src/serve-program.ts'
import { versionsOf } from '../src/versions.ts'

const yoga = createYoga({
  schema: createSchema({
    typeDefs: 'type Query { hello: String }',
    resolvers: { Query: { hello: () => 'world' } },
  }),
  ...(process.env['BENCH_SIZE_LIMIT'] === 'off' ? { maxRequestBodySize: false } : {}),
})
serveProgram(createServer(yoga), versionsOf(['graphql-yoga', 'graphql'], import.meta.url))
