import { createServer } from 'node:http'
import { useResponseCache as useYogaResponseCache } from '@graphql-yoga/plugin-response-cache'
import { createNodeHandler } from '@vinyasa/node-handler'
import { usePipeline } from '@vinyasa/core/pipeline'
import { useResponseCache } from '@vinyasa/response-cache'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { cacheItems, typeDefs } from '../src/cache-schema.ts'
import { serveProgram } from '../src/serve-program.ts'
import { versionsOf } from '../src/versions.ts'

/** Every reading is a minute later, so that each entry has expired when it is asked for again. */
function createHurriedClock(): { now(): number; wallNow(): number } {
  let now = Date.now()
  const tick = (): number => (now += 60_000)
  return { now: tick, wallNow: tick }
}

const caches: Record<string, () => Plugin> = {
  none: () => ({}),
  constant: () => ({}),
  yoga: () => useYogaResponseCache({ session: (request) => request.headers.get('authorization') }),
  memory: () => useResponseCache(),
  redis: () => useResponseCache({ redisUrl: process.env['BENCH_REDIS_URL'] ?? '' }),
  miss: () => useResponseCache({ defaultTtlMs: 1, platform: { clock: createHurriedClock() } }),
}
const cache = caches[process.env['BENCH_CACHE'] ?? 'none']
if (!cache) throw new Error(`BENCH_CACHE is one of ${Object.keys(caches).join(', ')}`)

const behaviour = process.env['BENCH_SHORT_WAY'] ? [usePipeline()] : []
const yoga = createYoga({
  logging: false,
  plugins: [cache(), ...behaviour],
  ...(process.env['BENCH_LIMIT'] === 'none' ? { maxRequestBodySize: false as const } : {}),
  schema: createSchema({
    typeDefs,
    resolvers: { Query: { items: () => cacheItems, constant: () => 'x' } },
  }),
})
serveProgram(
  createServer(process.env['BENCH_DOOR'] === 'node-handler' ? createNodeHandler(yoga) : yoga),
  versionsOf(['graphql-yoga', '@graphql-yoga/plugin-response-cache', 'graphql'], import.meta.url),
)
