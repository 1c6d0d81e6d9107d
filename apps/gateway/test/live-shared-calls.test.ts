import {
  connectRawWebSocket,
  createDisposables,
  type RawWebSocket,
  startGrpcBackend,
  startRestBackend,
  waitUntil,
} from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import { startGateway } from './support/gateway.ts'

const CALLERS = 12
/** The callers take turns with them. */
const ITEMS = ['1', '2', '3']
/** As slow as a backend that is not on the same machine. */
const SLOW_MS = 40
const CHANGED = { entityType: 'Item', operation: 'update' }

interface Backend {
  readonly config: GatewayConfig
  readonly field: string
  /** The `authorization` of each call, in order. */
  readonly calls: (string | undefined)[]
  /** What items have from the next call on. */
  value: number
  delayMs: number
}

type Forwarded = readonly string[]

async function overRest(forwardHeaders: Forwarded): Promise<Backend> {
  const { use } = createDisposables(onTestFinished)
  const rest = use(
    await startRestBackend(({ url, headers }) => {
      backend.calls.push(headers.authorization)
      const json = { id: url.pathname.slice(1), value: backend.value }
      return { json, delayMs: backend.delayMs }
    }),
  )
  const backend: Backend = {
    config: {
      rest: {
        items: {
          baseUrl: rest.url,
          forwardHeaders,
          healthPath: false,
          endpoints: [
            {
              name: 'item',
              path: '/{id}',
              args: { id: 'ID!' },
              responseSchema: { typeName: 'Item', fields: { id: 'id!', value: 'int!' } },
            },
          ],
        },
      },
    },
    field: 'item',
    calls: [],
    value: 0,
    delayMs: SLOW_MS,
  }
  return backend
}

const PROTO = `
  syntax = "proto3";
  package items;
  message ItemRequest { string id = 1; }
  message Item { string id = 1; int32 value = 2; }
  service Items { rpc GetItem(ItemRequest) returns (Item); }
`

async function overGrpc(forwardHeaders: Forwarded): Promise<Backend> {
  const { use } = createDisposables(onTestFinished)
  const grpc = use(
    await startGrpcBackend({
      protos: PROTO,
      handlers: {
        async 'items.Items/GetItem'({ id }, { metadata }) {
          const [authorization] = metadata.get('authorization')
          backend.calls.push(authorization?.toString())
          const { value } = backend
          await new Promise((resolve) => setTimeout(resolve, backend.delayMs))
          return { id, value }
        },
      },
    }),
  )
  const backend: Backend = {
    config: {
      grpc: {
        items: {
          endpoint: grpc.address,
          protoText: { 'items.proto': PROTO },
          forwardHeaders,
          expose: 'all',
          dedupe: 'inflight',
        },
      },
    },
    field: 'getItem',
    calls: [],
    value: 0,
    delayMs: SLOW_MS,
  }
  return backend
}

/** Each has a token of its own. */
async function follow(backend: Backend) {
  const { endpoint, gateway } = await startGateway({
    ...backend.config,
    liveQuery: { defaults: { enabled: true, throttleMs: 0 } },
  })
  const { use } = createDisposables(onTestFinished)
  const sockets: RawWebSocket[] = []
  for (let index = 0; index < CALLERS; index++) {
    const headers = { authorization: `Bearer ${index}` }
    const socket = use(await connectRawWebSocket(endpoint, { headers }))
    socket.sendJson({ type: 'connection_init' })
    await socket.nextJson()
    const query = `query @live { item: ${backend.field}(id: "${ITEMS[index % ITEMS.length]}") { id value } }`
    socket.sendJson({ id: 'a', type: 'subscribe', payload: { query } })
    await socket.nextJson()
    sockets.push(socket)
  }
  backend.calls.length = 0
  /** What each is told next. */
  const told = (): Promise<(number | undefined)[]> =>
    Promise.all(
      sockets.map(async (socket) => {
        const { payload } = (await socket.nextJson()) as { payload: { data: { item: { value: number } } } }
        return payload.data.item.value
      }),
    )
  return { gateway, told }
}

describe.each([
  ['REST', overRest],
  ['gRPC, calls in flight shared', overGrpc],
] as const)('runs of one event over %s', (_name, open) => {
  it('share calls, where the backend cannot tell their callers apart', async () => {
    const backend = await open([])
    // The first call must still be in flight when the last run of a busy machine begins.
    backend.delayMs = 1_000
    const { gateway, told } = await follow(backend)
    backend.value = 1
    await gateway.bus.publish([CHANGED])
    expect(await told()).toEqual(Array(CALLERS).fill(1))
    expect(backend.calls).toEqual(ITEMS.map(() => undefined))
  })

  it('share none with runs of an earlier one', async () => {
    const backend = await open([])
    const { gateway, told } = await follow(backend)
    for (const value of [1, 2]) {
      backend.value = value
      await gateway.bus.publish([CHANGED])
      await waitUntil(() => backend.calls.length >= ITEMS.length)
    }
    await told()
    expect(await told()).toEqual(Array(CALLERS).fill(2))
  })

  it('share none, where each call is made in its caller’s name', async () => {
    const backend = await open(['authorization'])
    const { gateway, told } = await follow(backend)
    backend.value = 1
    await gateway.bus.publish([CHANGED])
    expect(await told()).toEqual(Array(CALLERS).fill(1))
    expect(backend.calls.toSorted()).toEqual(
      Array.from({ length: CALLERS }, (_, index) => `Bearer ${index}`).toSorted(),
    )
  })
})
