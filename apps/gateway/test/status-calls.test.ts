import { connectRawWebSocket, grpcError, startGrpcBackend, startRestBackend } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { post, startGateway } from './support/gateway.ts'
import { watchStatus } from './support/watch-status.ts'

const PROTO = /* proto */ `
  syntax = "proto3";
  package p.v1;
  message Ask { string id = 1; }
  message Person { string id = 1; }
  service People {
    rpc GetPerson(Ask) returns (Person) { option idempotency_level = NO_SIDE_EFFECTS; }
    rpc WatchPerson(Ask) returns (stream Person);
  }`
/** Ids by what the backends do with them. */
const HANGS = 'hangs'
const CANCELS = 'cancels'

interface Stage {
  readonly endpoint: string
  readonly url: string
  /** Settles when a backend was asked. */
  readonly asked: Promise<void>
}

async function stage(): Promise<Stage> {
  let tell = (): void => {}
  const asked = new Promise<void>((resolve) => (tell = resolve))
  const over = new AbortController()
  const never = new Promise<void>((resolve) => over.signal.addEventListener('abort', () => resolve()))
  async function answer(id: string): Promise<{ id: string }> {
    tell()
    if (id === CANCELS) throw grpcError(1, 'the server gives up')
    if (id === HANGS) await never
    return { id }
  }
  const grpc = await startGrpcBackend({
    protos: PROTO,
    handlers: {
      'p.v1.People/GetPerson': ({ id }) => answer(id),
      'p.v1.People/WatchPerson': async function* ({ id }) {
        yield await answer(id)
        await never
      },
    },
  })
  const rest = await startRestBackend(async () => {
    await answer(HANGS)
    return { json: {} }
  })
  onTestFinished(async () => {
    over.abort()
    await grpc.stop()
    await rest.stop()
  })
  const { endpoint, server } = await startGateway({
    grpc: { people: { endpoint: grpc.address, protoText: { 'p.proto': PROTO }, expose: 'all' } },
    rest: {
      slow: {
        baseUrl: rest.url,
        healthPath: false,
        retry: { maxRetries: 0 },
        endpoints: [{ name: 'slow', path: '/slow', liveQuery: { enabled: true } }],
      },
      late: {
        baseUrl: rest.url,
        healthPath: false,
        timeoutMs: 200,
        retry: { maxRetries: 0 },
        endpoints: [{ name: 'late', path: '/late' }],
      },
    },
  })
  return { endpoint, url: server.url, asked }
}

type Leave = (endpoint: string, query: string, asked: Promise<void>) => Promise<void>

async function overSocket(
  endpoint: string,
  query: string,
): Promise<Awaited<ReturnType<typeof connectRawWebSocket>>> {
  const socket = await connectRawWebSocket(`${endpoint}/live`, { protocol: 'graphql-transport-ws' })
  onTestFinished(() => void socket.close())
  socket.sendJson({ type: 'connection_init' })
  await socket.next()
  socket.sendJson({ id: 'a', type: 'subscribe', payload: { query } })
  return socket
}

const closesSocket: Leave = async (endpoint, query, asked) => {
  const socket = await overSocket(endpoint, query)
  await asked
  await socket.close()
}

const completes: Leave = async (endpoint, query, asked) => {
  const socket = await overSocket(endpoint, query)
  await asked
  socket.sendJson({ id: 'a', type: 'complete' })
}

const abandons: Leave = async (endpoint, query, asked) => {
  const leaving = new AbortController()
  const left = fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream, application/json' },
    body: JSON.stringify({ query }),
    signal: leaving.signal,
  }).catch(() => {})
  await asked
  leaving.abort()
  await left
}

const PATIENCE = { timeout: 10_000 }

/** Figures of a backend once its call has ended, which the metrics tell of. */
async function afterCall(url: string, name: string): Promise<any> {
  const ended = async (): Promise<string> => (await fetch(`${url}/metrics`)).text()
  await expect.poll(ended, PATIENCE).toMatch(`vinyasa_backend_call_duration_seconds_count{source="${name}"`)
  const status = await (await watchStatus(url)).next()
  return { ...status, calls: status.backends.find((backend: any) => backend.name === name).requests }
}

const WATCH = (id: string): string => `subscription { watchPerson(id: "${id}") { id } }`
const LEAVES = [
  ['a subscription whose socket closes', WATCH('1'), closesSocket, 'people'],
  ['a subscription whose socket closes before the first event', WATCH(HANGS), closesSocket, 'people'],
  ['a completed subscription', WATCH('1'), completes, 'people'],
  ['a subscription completed before the first event', WATCH(HANGS), completes, 'people'],
  ['a subscription left over HTTP', WATCH('1'), abandons, 'people'],
  ['a query left while gRPC is asked', `{ getPerson(id: "${HANGS}") { id } }`, abandons, 'people'],
  ['a query left while REST is asked', '{ slow }', abandons, 'slow'],
  ['a live query left while REST is asked', 'query @live { slow }', closesSocket, 'slow'],
] as const

it.each(LEAVES)('%s is no failed call, and no error', async (_, query, leave, backend) => {
  const { endpoint, url, asked } = await stage()
  await leave(endpoint, query, asked)
  const { calls, requests, errors } = await afterCall(url, backend)
  expect(calls).toEqual({ calls: 1, failed: 0 })
  expect(requests.failed).toBe(0)
  expect(errors).toEqual([])
})

it.each([
  ['a query', `{ getPerson(id: "${CANCELS}") { id } }`, 'people'],
  ['a REST call over its time', '{ late }', 'late'],
])('%s that the backend ends is a failed call and an error', async (_, query, backend) => {
  const { endpoint, url } = await stage()
  await (await post(endpoint, { query })).text()
  const { calls, requests, errors } = await afterCall(url, backend)
  expect(calls).toEqual({ calls: 1, failed: 1 })
  expect(requests).toEqual({ calls: 1, failed: 1 })
  expect(errors).toHaveLength(1)
})

it('a subscription that the backend ends is a failed call', async () => {
  const { endpoint, url, asked } = await stage()
  await overSocket(endpoint, WATCH(CANCELS))
  await asked
  expect((await afterCall(url, 'people')).calls).toEqual({ calls: 1, failed: 1 })
})
