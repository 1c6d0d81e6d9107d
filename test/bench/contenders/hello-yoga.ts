import { createServer } from 'node:http'
import { createNodeHandler } from '@vinyasa/node-handler'
import { usePipeline } from '@vinyasa/core/pipeline'
import { createSchema, createYoga } from 'graphql-yoga'
import { serveProgram } from '../src/serve-program.ts'
import { versionsOf } from '../src/versions.ts'

const yoga = createYoga({
  schema: createSchema({
    typeDefs: 'type Query { hello: String }',
    resolvers: { Query: { hello: () => 'world' } },
  }),
  plugins: process.env['BENCH_SHORT_WAY'] ? [usePipeline()] : [],
  ...(process.env['BENCH_SIZE_LIMIT'] === 'off' ? { maxRequestBodySize: false } : {}),
})
const handler = process.env['BENCH_DOOR'] === 'node-handler' ? createNodeHandler(yoga) : yoga
serveProgram(createServer(handler), versionsOf(['graphql-yoga', 'graphql'], import.meta.url))
