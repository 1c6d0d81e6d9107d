import { clientOf } from '@vinyasa/core'
import type { RequestInterceptor } from '@vinyasa/rest-connector'
import { connectRawWebSocket, createDisposables, startRestBackend, waitUntil } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import { startGateway } from './support/gateway.ts'

const ANN = { 'x-forwarded-for': '2001:db8:1:2:3::4' }
/** The half of an address that is a client's. */
const ANNS = '2001:db8:1:2'

async function start() {
  const disposables = createDisposables(onTestFinished)
  const backend = disposables.use(await startRestBackend(() => ({ json: 'x' })))
  const clients: (string | undefined)[] = []
  const look: RequestInterceptor = (_, { context }) => void clients.push(clientOf(context as object))
  const server = { trustProxy: ['loopback'] }
  const config: GatewayConfig = {
    server,
    graphql: { batching: 2 },
    rest: {
      shop: {
        baseUrl: backend.url,
        healthPath: false,
        interceptors: [Object.assign(look, { readsHeaders: [] })],
        endpoints: [
          { name: 'item', path: '/item', liveQuery: { enabled: true, triggers: ['Item.update'] } },
          { name: 'change', path: '/change', method: 'PUT' },
        ],
      },
    },
  }
  const { endpoint, gateway } = await startGateway(config, server)
  return { endpoint, gateway, clients }
}

const ITEM = { query: '{ item }' }
const LIVE = 'query @live { item }'

it.each<[string, object, string]>([
  ['a query', ITEM, '*/*'],
  ['a batch', [ITEM, { query: '{ other: item }' }], '*/*'],
  ['a mutation', { query: 'mutation { change }' }, '*/*'],
  ['a deferred part', { query: '{ __typename ... @defer { item } }' }, 'multipart/mixed'],
])('calls of %s are those of the address that a trusted proxy tells', async (_, body, accept) => {
  const { endpoint, clients } = await start()
  // The last time on the prepared path.
  for (let turn = 0; turn < 3; turn++) {
    const headers = { 'content-type': 'application/json', accept, ...ANN }
    await (await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(body) })).text()
  }
  await fetch(`${endpoint}?query={item}`, { headers: ANN })
  expect(clients.length).toBeGreaterThan(3)
  expect([...new Set(clients)]).toEqual([ANNS])
})

it.each([
  ['a query', ITEM.query],
  ['a live query', LIVE],
])('so are those of %s on a socket, and of its next runs', async (_, query) => {
  const { endpoint, gateway, clients } = await start()
  const socket = createDisposables(onTestFinished).use(await connectRawWebSocket(endpoint, { headers: ANN }))
  socket.sendJson({ type: 'connection_init' })
  await socket.nextJson()
  socket.sendJson({ id: 'a', type: 'subscribe', payload: { query } })
  await socket.nextJson()
  if (query === LIVE) {
    await gateway.bus.publish([{ entityType: 'Item', operation: 'update' }])
    await waitUntil(() => clients.length === 2)
  }
  expect([...new Set(clients)]).toEqual([ANNS])
})

it('so are those of a live query over SSE; of one that several clients share they are nobody’s', async () => {
  const { endpoint, gateway, clients } = await start()
  const leave = new AbortController()
  onTestFinished(() => leave.abort())
  const follow = async (from: Readonly<Record<string, string>>): Promise<void> => {
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream', ...from }
    const { signal } = leave
    const { body } = await fetch(endpoint, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query: LIVE }),
      signal,
    })
    await body?.getReader().read()
  }
  const runAgain = async (runs: number): Promise<void> => {
    await gateway.bus.publish([{ entityType: 'Item', operation: 'update' }])
    await waitUntil(() => clients.length === runs)
  }
  await follow(ANN)
  await runAgain(2)
  expect(clients).toEqual([ANNS, ANNS])
  await follow({ 'x-forwarded-for': '192.0.2.2' })
  await runAgain(clients.length + 1)
  expect(clients.at(-1)).toBeUndefined()
})
