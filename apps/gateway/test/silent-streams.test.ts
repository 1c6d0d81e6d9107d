import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { useLiveQuery } from '@vinyasa/live-query'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { expect, it, onTestFinished } from 'vitest'
import { startGateway } from './support/gateway.ts'

// Opens a stream for every combination of server, client and operation, and then sends nothing. `SILENCE_MS=60000` waits
// longer, and prints a table.

const SILENCE_MS = Number(process.env['SILENCE_MS'] ?? 8_000)
const MAX_GAP_MS = 15_000

/** `Accept` headers of clients, as they send them for each operation. */
const CLIENTS: Readonly<Record<string, string | { readonly defer: string; readonly stream: string }>> = {
  'Apollo Client 3': {
    defer: 'multipart/mixed;deferSpec=20220824,application/json',
    stream: 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json',
  },
  'Apollo Client 4': {
    defer: 'multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json;q=0.9',
    stream:
      'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/graphql-response+json,application/json;q=0.9',
  },
  urql: {
    defer:
      'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
    stream: 'text/event-stream, multipart/mixed',
  },
  'fetch-multipart-graphql': {
    defer: 'multipart/mixed',
    stream: 'multipart/mixed;subscriptionSpec=1.0, application/json',
  },
  'graphql-sse': 'text/event-stream',
  EventSource: 'text/event-stream',
  curl: '*/*',
  'Apollo Kotlin and iOS': {
    defer: 'multipart/mixed;deferSpec=20220824, application/json',
    stream: 'multipart/mixed;subscriptionSpec=1.0, application/json',
  },
}

const OPERATIONS = {
  'live query': 'query @live { now }',
  subscription: 'subscription { never }',
  '@defer': '{ now ... @defer { never } }',
}

const typeDefs = 'type Query { now: Int never: Int } type Subscription { never: Int }'
const forever = new Promise<never>(() => {})
const resolvers = {
  Query: { now: () => 1, never: () => forever },
  Subscription: {
    never: {
      subscribe: () => ({
        [Symbol.asyncIterator]: () => ({
          next: () => forever,
          return: () => Promise.resolve({ done: true, value: undefined }),
        }),
      }),
    },
  },
}

async function startYoga(plugin: Plugin): Promise<string> {
  const yoga = createYoga({
    schema: createSchema({ typeDefs, resolvers }),
    plugins: [plugin],
    logging: false,
  })
  const server = createServer(yoga)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`
}

interface Row {
  readonly name: string
  readonly headers: Headers
  readonly headersMs: number
  /** Longest time without a byte. */
  readonly gapMs: number
  /** Chunks that came 3 s after the headers or later. */
  readonly late: number
}

async function watch(name: string, endpoint: string, query: string, accept: string): Promise<Row> {
  const isGet = name.includes('EventSource')
  const start = performance.now()
  const abort = new AbortController()
  const response = await fetch(isGet ? `${endpoint}?query=${encodeURIComponent(query)}` : endpoint, {
    method: isGet ? 'GET' : 'POST',
    headers: { accept, ...(!isGet && { 'content-type': 'application/json' }) },
    ...(!isGet && { body: JSON.stringify({ query }) }),
    signal: abort.signal,
  })
  const headersMs = performance.now() - start
  const times = [headersMs]
  const read = async (): Promise<void> => {
    for await (const _ of response.body ?? []) times.push(performance.now() - start)
  }
  const reading = read().catch(() => {})
  await new Promise((resolve) => setTimeout(resolve, SILENCE_MS))
  abort.abort()
  await reading
  times.push(SILENCE_MS)
  const gapMs = Math.max(...times.map((time, at) => time - (times[at - 1] ?? 0)))
  return {
    name,
    headers: response.headers,
    headersMs,
    gapMs,
    late: times.filter((time) => time > headersMs + 3_000).length - 1,
  }
}

it(
  'every stream starts with its headers and sends heartbeats',
  { timeout: SILENCE_MS + 20_000 },
  async () => {
    const live = { defaults: { enabled: true, strategy: 'POLLING', pollIntervalMs: 3_600_000 } } as const
    const { endpoint } = await startGateway({
      typeDefs,
      resolvers,
      responseCache: true,
      liveQuery: live,
      defer: { fragmentTimeoutMs: 0, maxTotalTimeoutMs: 0 },
    } as never)
    const alone = {
      'live query': await startYoga(useLiveQuery(live)),
      subscription: await startYoga(useLiveQuery(live)),
      '@defer': await startYoga(useDeferSplitter({ fragmentTimeoutMs: 0, maxTotalTimeoutMs: 0 })),
    }
    // The first request of a process compiles code.
    for (const url of [endpoint, ...Object.values(alone)]) await fetch(`${url}?query={now}`)
    const rows = await Promise.all(
      Object.entries(OPERATIONS).flatMap(([operation, query]) =>
        Object.entries(CLIENTS).flatMap(([client, accepts]) => {
          const isDefer = operation === '@defer'
          const accept = typeof accepts === 'string' ? accepts : accepts[isDefer ? 'defer' : 'stream']
          // These clients take live queries in one response, and `@defer` as one response or not at all.
          if (accept === '*/*' && operation !== 'subscription') return []
          if (isDefer && !accept.includes('multipart')) return []
          return [
            watch(`gateway, ${operation}, ${client}`, endpoint, query, accept),
            watch(`plugin, ${operation}, ${client}`, alone[operation as keyof typeof alone], query, accept),
          ]
        }),
      ),
    )
    if (process.env['SILENCE_MS']) {
      for (const { name, headers, headersMs, gapMs, late } of rows) {
        const shown = ['content-type', 'cache-control', 'x-accel-buffering'].map((header) =>
          headers.get(header),
        )
        const times = `headers after ${Math.round(headersMs)} ms, longest gap ${Math.round(gapMs)} ms, ${late} heartbeats`
        process.stdout.write(`${name}: ${shown.join(' | ')} | ${times}\n`)
      }
    }
    for (const { name, headers, gapMs, late } of rows) {
      expect.soft(headers.get('content-type'), name).toMatch(/^(text\/event-stream|multipart\/mixed)/)
      expect.soft(headers.get('cache-control'), name).toMatch(/\bno-cache\b/)
      expect.soft(headers.get('x-accel-buffering'), name).toBe('no')
      expect.soft(late, name).toBeGreaterThan(0)
      expect.soft(gapMs, name).toBeLessThan(MAX_GAP_MS)
    }
  },
)
