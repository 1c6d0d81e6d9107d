import { createServer } from 'node:http'
import { useDeferStream } from '@graphql-yoga/plugin-defer-stream'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { createNodeHandler } from '@vinyasa/node-handler'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { resolvers, typeDefs } from '../src/defer-schema.ts'
import { serveProgram } from '../src/serve-program.ts'
import { versionsOf } from '../src/versions.ts'

const plugins: Readonly<Record<string, readonly [name: string, plugin: () => Plugin]>> = {
  streaming: ['@vinyasa/defer-splitter', () => useDeferSplitter({ strategy: 'streaming' })],
  eager: ['@vinyasa/defer-splitter', () => useDeferSplitter({ strategy: 'eager' })],
  yoga: ['@graphql-yoga/plugin-defer-stream', useDeferStream],
}
const [name, create] = plugins[process.env['BENCH_DEFER_PLUGIN'] ?? ''] ?? []
const isThin = process.env['BENCH_DEFER_DOOR'] === 'thin'

const yoga = createYoga({
  schema: createSchema({ typeDefs, resolvers }),
  plugins: create ? [create()] : [],
  logging: false,
})
const names = [
  'graphql-yoga',
  'graphql',
  ...(name ? [name] : []),
  ...(isThin ? ['@vinyasa/node-handler'] : []),
]
serveProgram(createServer(isThin ? createNodeHandler(yoga) : yoga), versionsOf(names, import.meta.url))
