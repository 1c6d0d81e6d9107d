import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { createGrpcSource, useGrpcSource, type GrpcSource } from '@vinyasa/grpc-source'
import { createInvalidationBus, type InvalidationBus } from '@vinyasa/invalidation'
import { useLiveQuery } from '@vinyasa/live-query'
import { createNodeHandler } from '@vinyasa/node-handler'
import { useResponseCache } from '@vinyasa/response-cache'
import { createRestConnector, useRestConnector, type RestConnector } from '@vinyasa/rest-connector'
import { startGrpcBackend, startRestBackend, type GrpcBackend, type RestBackend } from '@vinyasa/test-kit'
import { createYoga, type Plugin } from 'graphql-yoga'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

// Each source with each behaviour and with the other source, in both orders, behind Yoga's own door and the thin one;
// and all five in every order. Each arrangement is asked everything that its plugins promise.

type Name = 'grpc' | 'rest' | 'cache' | 'defer' | 'live'

const SOURCES: readonly Name[] = ['grpc', 'rest']
const ALL: readonly Name[] = [...SOURCES, 'cache', 'defer', 'live']

const PROTO = `
syntax = "proto3";
message Request { string id = 1; string name = 2; }
message User { string id = 1; string name = 2; }
service Users {
  rpc GetUser(Request) returns (User) { option idempotency_level = NO_SIDE_EFFECTS; }
  rpc UpdateUser(Request) returns (User);
}`
const live = { enabled: true, throttleMs: 0 }
const responseSchema = { typeName: 'Product', fields: { id: 'id!', name: 'string' } } as const

interface Backends {
  readonly grpc: GrpcBackend
  readonly rest: RestBackend
  /** The truth of both. */
  name: string
}

/** What one source serves, in the words of both. */
const FIELDS = {
  grpc: { query: 'getUser(id: "1")', rename: (name: string) => `updateUser(id: "1", name: "${name}")` },
  rest: { query: 'getProduct', rename: (name: string) => `updateProduct(name: "${name}")` },
} as const

let backends: Backends
const stops: (() => unknown)[] = []

beforeAll(async () => {
  const user = (): object => ({ id: '1', name: backends.name })
  const grpc = await startGrpcBackend({
    protos: PROTO,
    handlers: {
      'Users/GetUser': user,
      'Users/UpdateUser': ({ name }) => {
        backends.name = name
        return user()
      },
    },
  })
  const rest = await startRestBackend(({ method, json }) => {
    if (method === 'PATCH') backends.name = json().name
    return { json: user() }
  })
  backends = { grpc, rest, name: 'Ada' }
  stops.push(
    () => grpc.stop(),
    () => rest.stop(),
  )
})
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop()
})

function grpcSource(bus: InvalidationBus): Promise<GrpcSource> {
  return createGrpcSource({
    name: 'users',
    protoText: { 'users.proto': PROTO },
    expose: 'all',
    endpoint: backends.grpc.address,
    methods: { 'Users.GetUser': { liveQuery: live } },
    bus,
  })
}

function restConnector(bus: InvalidationBus): RestConnector {
  return createRestConnector('shop', {
    baseUrl: backends.rest.url,
    endpoints: [
      { name: 'getProduct', path: '/product', responseSchema, liveQuery: live },
      { name: 'updateProduct', method: 'PATCH', path: '/product', args: { name: 'String!' }, responseSchema },
    ],
    bus,
  })
}

interface World {
  ask(query: string, accept?: string, signal?: AbortSignal): Promise<Response>
  /** Calls that reached a backend so far. */
  calls(): number
}

type Door = 'yoga' | 'node-handler'

async function start(names: readonly Name[], door: Door): Promise<World> {
  const bus = createInvalidationBus()
  const grpc = names.includes('grpc') ? await grpcSource(bus) : undefined
  const rest = names.includes('rest') ? restConnector(bus) : undefined
  const liveQuery = useLiveQuery({ bus })
  const plugins: Readonly<Record<Name, () => Plugin>> = {
    grpc: () => useGrpcSource(grpc as GrpcSource) as Plugin,
    rest: () => useRestConnector(rest as RestConnector) as Plugin,
    cache: () => useResponseCache({ bus }),
    defer: () => useDeferSplitter(),
    live: () => liveQuery,
  }
  const yoga = createYoga({ logging: false, plugins: names.map((name) => plugins[name]()) })
  const server = createServer(door === 'yoga' ? yoga : createNodeHandler(yoga))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  stops.push(async () => {
    liveQuery.close()
    server.close().closeAllConnections()
    await grpc?.close()
    await rest?.close()
  })
  return {
    ask: (query, accept = 'application/json', signal) =>
      fetch(`http://127.0.0.1:${port}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept },
        body: JSON.stringify({ query }),
        ...(signal && { signal }),
      }),
    calls: () => backends.grpc.calls.length + backends.rest.requests.length,
  }
}

/** The parts of a multipart answer put together. */
function merged(text: string): unknown {
  const parts = [...text.matchAll(/^\{.*\}$/gm)].map(([json]) => JSON.parse(json))
  const { data } = parts[0]
  for (const { path, data: patch } of parts.flatMap((part) => part.incremental ?? [])) {
    Object.assign(
      path.reduce((value: any, key: string) => value[key], data),
      patch,
    )
  }
  return data
}

/** What an arrangement answers to everything that its plugins promise. */
interface Seen {
  readonly plain: readonly unknown[]
  readonly cache: string | null
  /** Calls of backends for the second time the same query was asked. */
  readonly calls: number
  readonly deferred: unknown
  readonly mutations: readonly unknown[]
  /** Queries after each mutation. */
  readonly after: readonly unknown[]
  readonly updates: readonly unknown[]
}

function sourcesOf(names: readonly Name[]): ('grpc' | 'rest')[] {
  return (['grpc', 'rest'] as const).filter((name) => names.includes(name))
}

function selection(names: readonly Name[], inner: string): string {
  return sourcesOf(names)
    .map((name) => `${name}: ${FIELDS[name].query} { ${inner} }`)
    .join(' ')
}

async function askEverything(names: readonly Name[], door: Door): Promise<Seen> {
  const world = await start(names, door)
  const query = `{ ${selection(names, 'id name')} }`
  backends.name = 'Ada'
  const first = await (await world.ask(query)).json()
  const callsBefore = world.calls()
  const second = await world.ask(query)
  const plain = [first, await second.json()]
  const calls = world.calls() - callsBefore
  const deferred = names.includes('defer') ? await askDeferred(world, names) : undefined
  const stop = new AbortController()
  const stream = names.includes('live')
    ? updatesOf(await world.ask(`query @live ${query}`, 'text/event-stream', stop.signal))
    : undefined
  const updates = stream ? [await stream.next()] : []
  const mutations: unknown[] = []
  const after: unknown[] = []
  for (const name of sourcesOf(names)) {
    const rename = FIELDS[name].rename(`renamed by ${name}`)
    mutations.push(await (await world.ask(`mutation { done: ${rename} { name } }`)).json())
    after.push(await (await world.ask(`{ own: ${FIELDS[name].query} { name } }`)).json())
    if (stream) updates.push((await stream.next())[name].name)
  }
  stop.abort()
  return { plain, cache: second.headers.get('x-cache'), calls, deferred, mutations, after, updates }
}

async function askDeferred(world: World, names: readonly Name[]): Promise<unknown> {
  const query = `{ ${selection(names, 'id ... @defer { name }')} }`
  const text = await (await world.ask(query, 'multipart/mixed')).text()
  return { inParts: text.includes('"hasNext":true'), merged: merged(text) }
}

function promised(names: readonly Name[]): Seen {
  const sources = sourcesOf(names)
  const data = Object.fromEntries(sources.map((name) => [name, { id: '1', name: 'Ada' }]))
  const hasCache = names.includes('cache')
  const renamed = sources.map((name) => `renamed by ${name}`)
  return {
    plain: [{ data }, { data }],
    cache: hasCache ? 'HIT' : null,
    calls: hasCache ? 0 : sources.length,
    deferred: names.includes('defer') ? { inParts: true, merged: data } : undefined,
    mutations: renamed.map((name) => ({ data: { done: { name } } })),
    after: renamed.map((name) => ({ data: { own: { name } } })),
    updates: names.includes('live') ? [data, ...renamed] : [],
  }
}

/** The data of a live query over SSE, update by update. */
function updatesOf(response: Response): { next(): Promise<any> } {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let buffer = ''
  return {
    async next() {
      for (;;) {
        const event = /^data: ?(\{.*\})\n/m.exec(buffer)
        if (event) {
          buffer = buffer.slice(event.index + event[0].length)
          return JSON.parse(event[1] ?? '').data
        }
        const { value, done } = (await reader?.read()) ?? { done: true }
        if (done) throw new Error(`the stream ended: ${buffer}`)
        buffer += value
      }
    },
  }
}

function permutations(names: readonly Name[]): Name[][] {
  if (names.length === 0) return [[]]
  return names.flatMap((name) =>
    permutations(names.filter((other) => other !== name)).map((rest) => [name, ...rest]),
  )
}

const PAIRS = ALL.flatMap((first) =>
  ALL.filter((second) => second !== first && [first, second].some((name) => SOURCES.includes(name))).map(
    (second) => [first, second],
  ),
)

describe.each(['yoga', 'node-handler'] as const)('behind the door of %s', (door) => {
  it.each(PAIRS.map((names) => [names.join(' → '), names] as const))('%s', async (_, names) => {
    expect(await askEverything(names, door)).toEqual(promised(names))
  })

  it.each(ALL.map((name) => [name] as const))(
    'all five in each order that begins with %s',
    async (first) => {
      const orders = permutations(ALL).filter(([name]) => name === first)
      expect(orders).toHaveLength(24)
      for (const names of orders) {
        expect({ names, ...(await askEverything(names, door)) }).toEqual({ names, ...promised(names) })
      }
    },
    60_000,
  )
})
