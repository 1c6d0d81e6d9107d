import {
  connectRawWebSocket,
  createDisposables,
  type RawWebSocket,
  requestMultipart,
  type RestBackend,
  startRestBackend,
  waitUntil,
} from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { median, ms, recordFigure } from './support/figures.ts'
import { type RunningGateway, startGateway } from './support/gateway.ts'

const ROUNDS = 7

const disposables = createDisposables(afterAll)
let backend: RestBackend
let gateway: RunningGateway

beforeAll(async () => {
  backend = disposables.use(
    await startRestBackend(({ url }) =>
      // Everything else at once: readiness asks the backend for a sign of life.
      url.pathname.startsWith('/slow/') ? { delayMs: 30_000, json: {} } : { json: { ok: true } },
    ),
  )
  const slow = (name: string) => ({
    name,
    path: `/${name}/{id}`,
    args: { id: 'ID!' },
    liveQuery: { enabled: true },
  })
  gateway = disposables.use(
    await startGateway({
      config: {
        rest: { api: { baseUrl: backend.url, endpoints: [slow('slow'), { name: 'quick', path: '/quick' }] } },
      },
    }),
  )
})

/** Starts an operation that waits for the backend, and returns how its client leaves. */
type Start = (id: string) => Promise<() => unknown>

const request = (accept: string, queryOf: (id: string) => string): Start => {
  return async (id) => {
    const response = await requestMultipart(`${gateway.url}/graphql`, {
      headers: { accept },
      body: { query: queryOf(id) },
    })
    if (response.boundary) await response.nextPart()
    return () => response.abort()
  }
}

const socketOperation = (queryOf: (id: string) => string, leave: (socket: RawWebSocket) => void): Start => {
  return async (id) => {
    const socket = disposables.use(await connectRawWebSocket(`${gateway.url}/graphql/live`))
    socket.sendJson({ type: 'connection_init' })
    await socket.nextJson()
    socket.sendJson({ id: 'a', type: 'subscribe', payload: { query: queryOf(id) } })
    return () => leave(socket)
  }
}

const plain = (id: string): string => `{ slow(id: "${id}") }`
const live = (id: string): string => `query @live { slow(id: "${id}") }`
const complete = (socket: RawWebSocket): void => socket.sendJson({ id: 'a', type: 'complete' })
const vanish = (socket: RawWebSocket): void => socket.terminate()

describe('a client that leaves cancels its backend calls', () => {
  it.each<[string, Start]>([
    [
      'HTTP',
      async (id) => {
        const abort = new AbortController()
        const answer = fetch(`${gateway.url}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query: plain(id) }),
          signal: abort.signal,
        })
        answer.catch(() => {})
        return () => abort.abort()
      },
    ],
    [
      'multipart, after the first part',
      request('multipart/mixed', (id) => `{ quick ... @defer { slow(id: "${id}") } }`),
    ],
    ['SSE', request('text/event-stream', live)],
    ['WebSocket, complete of a query', socketOperation(plain, complete)],
    ['WebSocket, complete of a live query', socketOperation(live, complete)],
    ['WebSocket, connection cut', socketOperation(live, vanish)],
  ])('over %s', async (transport, start) => {
    const delays: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const id = `${transport.replace(/\W/g, '')}${round}`
      const leave = await start(id)
      const call = await waitUntil(() => backend.requests.find(({ rawUrl }) => rawUrl === `/slow/${id}`), {
        awaited: 'the call to the backend',
      })
      const at = performance.now()
      await leave()
      await waitUntil(() => call.cancelledAt, { everyMs: 2, awaited: 'the cancellation' })
      delays.push(call.cancelledAt! - at)
    }
    recordFigure({
      area: 'client gone',
      fault: `over ${transport}: the REST call is cancelled`,
      asked: '50 ms',
      seen: `${ms(median(delays))} (median of ${ROUNDS}, longest ${ms(Math.max(...delays))})`,
    })
    expect(median(delays)).toBeLessThan(100)
  })
})
