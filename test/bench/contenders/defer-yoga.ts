import { createServer } from 'node:http'
import { useDeferStream } from '@graphql-yoga/plugin-defer-stream'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { createSchema, createYoga } from 'graphql-yoga'
import { resolvers, typeDefs } from '../src/defer-schema.ts'
import { serveProgram } from '../src/serve-program.ts'
import { versionsOf } from '../src/versions.ts'

const strategy = process.env['BENCH_DEFER_STRATEGY'] as 'streaming' | 'eager' | undefined
const yoga = createYoga({
  schema: createSchema({ typeDefs, resolvers }),
  plugins: [strategy ? useDeferSplitter({ strategy }) : useDeferStream()],
  logging: false,
})
const names = [
  'graphql-yoga',
  'graphql',
  strategy ? '@vinyasa/defer-splitter' : '@graphql-yoga/plugin-defer-stream',
]
serveProgram(createServer(yoga), versionsOf(names, import.meta.url))
