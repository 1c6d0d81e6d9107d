import { type ClientRequest, createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { createGrpcSource, useGrpcSource } from '@vinyasa/grpc-source'
import { createNodeHandler } from '@vinyasa/node-handler'
import { createRestConnector, field, useRestConnector } from '@vinyasa/rest-connector'
import {
  createDisposables,
  type GrpcBackend,
  type RestBackend,
  startGrpcBackend,
  startRestBackend,
} from '@vinyasa/test-kit'
import { createYoga } from 'graphql-yoga'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'

// Making an `AbortSignal` and listening to it takes a tenth of a request with one call. Behind node-handler calls are ended
// without one; whoever asks for the request's signal gets it.

const PROTO = `syntax = "proto3"; package s;
service S { rpc GetUser(Id) returns (User); }
message Id { string id = 1; }
message User { string id = 1; string name = 2; }`

const cleanup = createDisposables(afterAll)
let grpc: GrpcBackend
let rest: RestBackend
let url = ''
/** What a plugin saw, where it asks. */
let seen: AbortSignal | undefined
let asks = false

beforeAll(async () => {
  grpc = cleanup.use(
    await startGrpcBackend({
      protos: PROTO,
      handlers: {
        's.S/GetUser': ({ id }) => (id === 'slow' ? new Promise(() => {}) : { id, name: 'Ann' }),
      },
    }),
  )
  rest = cleanup.use(
    await startRestBackend(({ url: { pathname } }) => ({
      json: { id: '1', name: 'Chair' },
      ...(pathname.endsWith('slow') && { delayMs: 60_000 }),
    })),
  )
  const users = cleanup.use(
    await createGrpcSource({
      name: 'users',
      protoText: { 's.proto': PROTO },
      endpoint: grpc.address,
      methods: { 's.S.GetUser': { schema: { type: 'QUERY', name: 'user' } } },
    }),
  )
  const responseSchema = { typeName: 'Item', fields: { id: field.id, name: field.string } } as const
  const items = createRestConnector('items', {
    baseUrl: rest.url,
    endpoints: [{ name: 'item', path: '/items/{id}', args: { id: 'ID!' }, responseSchema }],
  })
  const onParams = ({ request }: { readonly request: Request }): void => {
    if (!asks) return
    seen = request.signal
    for (let index = 0; index < 20; index++) request.signal.addEventListener('abort', () => {})
  }
  const plugins = [{ onParams }, useGrpcSource(users), useRestConnector(items), useDeferSplitter()]
  const server = cleanup.use(createServer(createNodeHandler(createYoga({ plugins, logging: false }))))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`
})

afterEach(() => {
  vi.unstubAllGlobals()
  asks = false
  seen = undefined
})

/** By node:http, which makes no signals of its own. */
function send(query: string, onText: (text: string) => void = () => {}): ClientRequest {
  const headers = { 'content-type': 'application/json', accept: 'multipart/mixed, application/json' }
  const sent = httpRequest(url, { method: 'POST', headers }, (response) => {
    // Who leaves does not hear the rest.
    response.toArray().then(
      (parts) => onText(Buffer.concat(parts).toString()),
      () => {},
    )
  })
  sent.on('error', () => {})
  sent.end(JSON.stringify({ query }))
  return sent
}

const ask = (query: string): Promise<string> => new Promise((resolve) => void send(query, resolve))

describe.each([
  ['gRPC', (id: string) => `{ user(id: "${id}") { name } }`, ['{"user":{"name":"Ann"}}']],
  ['REST', (id: string) => `{ item(id: "${id}") { name } }`, ['{"item":{"name":"Chair"}}']],
  [
    'two calls of each',
    (id: string) =>
      `{ user(id: "${id}") { name } other: user(id: "2") { name } item(id: "${id}") { name } more: item(id: "2") { name } }`,
    ['{"user":{"name":"Ann"},"other":{"name":"Ann"},"item":{"name":"Chair"},"more":{"name":"Chair"}}'],
  ],
  [
    'fragments that are deferred',
    (id: string) =>
      `{ __typename ... @defer { user(id: "${id}") { name } } ... @defer { item(id: "${id}") { name } } }`,
    ['{"__typename":"Query"}', '{"user":{"name":"Ann"}}', '{"item":{"name":"Chair"}}'],
  ],
])('calls of %s', (kind, query, parts) => {
  const cancelledCalls = (): number =>
    [...grpc.calls, ...rest.requests].filter(({ cancelledAt }) => cancelledAt !== undefined).length

  it('make no signal', async () => {
    const made = vi.fn<() => void>()
    class Counted extends AbortController {
      constructor() {
        super()
        // The backends of the test make some, too.
        if (!new Error('made here').stack?.includes('/test/kit/')) made()
      }
    }
    const answer = async (): Promise<void> => {
      const text = await ask(query('1'))
      for (const part of parts) expect(text).toContain(part)
    }
    for (let time = 0; time < 3; time++) await answer()
    vi.stubGlobal('AbortController', Counted)
    for (let time = 0; time < 3; time++) await answer()
    expect(made).not.toHaveBeenCalled()
    asks = true
    const warned = vi.spyOn(process, 'emitWarning')
    await ask(query('1'))
    expect(made).toHaveBeenCalledTimes(1)
    expect(warned).not.toHaveBeenCalled()
  })

  it.each(['nobody', 'a plugin'])(
    'end when the client leaves, where %s has asked for the signal',
    async (who) => {
      asks = who === 'a plugin'
      const before = cancelledCalls()
      const began = grpc.calls.length + rest.requests.length
      const slow = ['gRPC', 'REST'].includes(kind) ? 1 : 2
      const sent = send(query('slow'))
      await expect.poll(() => grpc.calls.length + rest.requests.length - began).toBeGreaterThanOrEqual(slow)
      sent.destroy()
      await expect.poll(() => cancelledCalls() - before).toBe(slow)
      expect(seen?.aborted).toBe(asks ? true : undefined)
    },
  )
})
