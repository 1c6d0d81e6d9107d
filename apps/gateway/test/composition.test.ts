import {
  connectRawWebSocket,
  describeWithRedis,
  requestMultipart,
  startGrpcBackend,
  startRedis,
  startRestBackend,
  waitUntil,
  type GrpcBackend,
  type RawWebSocket,
  type RestBackend,
} from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createGateway, type Gateway } from '../src/gateway.ts'
import type { GatewayConfig } from '../src/config/types.ts'
import { createLogger } from '../src/logging/logger.ts'
import { serve } from '../src/server.ts'

// The rules that hold when every plugin is on: design page of the gateway, "Composition rules".

const PROTO = `
syntax = "proto3";
package people.v1;
service People {
  rpc GetPerson(GetPersonRequest) returns (Person);
  rpc RenamePerson(RenamePersonRequest) returns (Person);
}
message GetPersonRequest { string id = 1; }
message RenamePersonRequest { string id = 1; string name = 2; }
message Person { string id = 1; string name = 2; string seen_by = 3; }
`

interface World {
  readonly url: string
  readonly gateway: Gateway
  readonly grpc: GrpcBackend
  readonly rest: RestBackend
  /** The truth, as the backends hold it. */
  readonly people: Map<string, string>
}

type Backends = Pick<World, 'grpc' | 'rest' | 'people'>

async function start(config: Partial<GatewayConfig> = {}): Promise<World> {
  return startBeside(await startBackends(), config)
}

async function startBackends(): Promise<Backends> {
  const people = new Map([['1', 'Ada']])
  const grpc = await startGrpcBackend({
    protos: PROTO,
    handlers: {
      'people.v1.People/GetPerson': ({ id }, { metadata }) => ({
        id,
        name: people.get(id),
        seenBy: String(metadata.get('authorization')[0] ?? 'nobody'),
      }),
      'people.v1.People/RenamePerson': ({ id, name }) => {
        people.set(id, name)
        return { id, name }
      },
    },
  })
  onTestFinished(() => grpc.stop())
  const rest = await startRestBackend(({ headers }) => ({
    json: { stars: 5, seenBy: headers.authorization ?? 'nobody' },
  }))
  onTestFinished(() => rest.stop())
  return { grpc, rest, people }
}

/** A gateway in front of backends that are there already. */
async function startBeside({ grpc, rest, people }: Backends, config: Partial<GatewayConfig>): Promise<World> {
  const gateway = await createGateway(
    {
      responseCache: true,
      grpc: {
        people: {
          endpoint: grpc.address,
          protoText: { 'people.proto': PROTO },
          expose: 'all',
          methods: {
            'people.v1.People.GetPerson': {
              schema: { type: 'QUERY', name: 'person' },
              liveQuery: { enabled: true, throttleMs: 0 },
            },
          },
        },
      },
      rest: {
        ratings: {
          baseUrl: rest.url,
          forwardHeaders: ['authorization'],
          cacheSize: 10,
          endpoints: [
            {
              name: 'slowRating',
              path: '/slow',
              liveQuery: { enabled: true },
              responseSchema: { typeName: 'Rating', fields: { stars: 'int!' } },
            },
            {
              name: 'rating',
              path: '/rating',
              responseSchema: { typeName: 'Rating', fields: { stars: 'int!', seenBy: 'string' } },
            },
          ],
        },
      },
      ...config,
    },
    { baseDirectory: '/', logger: await createLogger({ level: 'silent' }) },
  )
  const server = await serve(gateway, { port: 0 })
  onTestFinished(() => server.close({ graceMs: 100 }))
  return { url: server.url, gateway, grpc, rest, people }
}

interface Answer {
  readonly cache: string | null
  readonly text: string
  readonly data: any
}

async function ask(world: World, query: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${world.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { cache: response.headers.get('x-cache'), text, data: isJson ? JSON.parse(text).data : undefined }
}

/** The `data` of a multipart response, its parts put together. */
function merged(text: string): any {
  const parts = [...text.matchAll(/^\{.*\}$/gm)].map(([json]) => JSON.parse(json))
  const whole = parts[0].data
  for (const { data, path } of parts.flatMap((part) => part.incremental ?? [])) {
    const target = path.reduce((value: any, key: string) => value[key], whole)
    Object.assign(target, data)
  }
  return { parts: parts.length, whole }
}

async function openLive(world: World): Promise<RawWebSocket> {
  const socket = await connectRawWebSocket(`${world.url.replace('http', 'ws')}/graphql/live`, {
    protocol: 'graphql-transport-ws',
  })
  onTestFinished(() => void socket.close())
  socket.sendJson({ type: 'connection_init' })
  expect((await socket.next()).json()).toMatchObject({ type: 'connection_ack' })
  return socket
}

const PERSON = '{ person(id: "1") { id name } }'
const RENAME = 'mutation { renamePerson(id: "1", name: "Grace") { id name } }'
const multipart = { accept: 'multipart/mixed' }

describe('rule 1: after a mutation was answered nobody reads old data', () => {
  it('the cache is evicted and live queries send the new data', async () => {
    const world = await start()
    expect((await ask(world, PERSON)).cache).toBe('MISS')
    expect((await ask(world, PERSON)).cache).toBe('HIT')
    const socket = await openLive(world)
    socket.sendJson({ id: 'a', type: 'subscribe', payload: { query: `query @live ${PERSON}` } })
    expect((await socket.next()).json().payload.data.person.name).toBe('Ada')

    await ask(world, RENAME)
    const after = await ask(world, PERSON)
    expect(after.data.person.name).toBe('Grace')
    expect(after.cache).toBe('MISS')
    expect((await socket.next()).json().payload.data.person.name).toBe('Grace')
  })
})

describe('rule 2: a live re-execution never serves a cached response', () => {
  it('asks the backend although the same query is cached', async () => {
    const world = await start()
    const socket = await openLive(world)
    socket.sendJson({ id: 'a', type: 'subscribe', payload: { query: `query @live ${PERSON}` } })
    await socket.next()
    expect((await ask(world, PERSON)).cache).toBe('MISS')
    expect((await ask(world, PERSON)).cache).toBe('HIT')
    const calls = world.grpc.calls.length
    // The backend changes by itself; the event names another type, so the cache keeps its entry.
    world.people.set('1', 'Edsger')
    await world.gateway.bus.publish([{ entityType: 'Person', operation: 'update' }])
    expect((await socket.next()).json().payload.data.person.name).toBe('Edsger')
    expect(world.grpc.calls.length).toBeGreaterThan(calls)
  })
})

describe('rule 3: deferred queries and the cache', () => {
  const deferred = '{ person(id: "1") { id ... @defer { name } } }'

  it('a deferred miss is stored whole: the plain query hits, and the deferred one is split again', async () => {
    const world = await start()
    const first = await ask(world, deferred, multipart)
    expect(first.cache).toBe('MISS')
    expect(merged(first.text)).toEqual({ parts: 2, whole: { person: { id: '1', name: 'Ada' } } })

    const plain = await ask(world, PERSON)
    expect(plain.cache).toBe('HIT')
    expect(plain.data).toEqual({ person: { id: '1', name: 'Ada' } })

    const again = await ask(world, deferred, multipart)
    expect(again.cache).toBe('HIT')
    expect(again.text).toContain('"hasNext":true')
    expect(merged(again.text).whole).toEqual({ person: { id: '1', name: 'Ada' } })
    expect(world.grpc.calls).toHaveLength(1)
  })

  it('an error in a patch is not cached', async () => {
    const world = await start()
    const query = '{ person(id: "1") { id } ... @defer { rating { stars } } }'
    world.rest.handle(() => ({ status: 400, json: {} }))
    expect((await ask(world, query, multipart)).text).toContain('"errors"')
    world.rest.handle(() => ({ json: { stars: 4 } }))
    const again = await ask(world, query, multipart)
    expect(again.cache).toBe('MISS')
    expect(merged(again.text).whole).toEqual({ person: { id: '1' }, rating: { stars: 4 } })
  })
})

describe('rule 5: two users with different Authorization share nothing', () => {
  const both = '{ person(id: "1") { seenBy } rating { seenBy } }'

  it('neither cache entries nor REST responses nor calls in flight', async () => {
    const world = await start()
    const users = ['Bearer a', 'Bearer b', undefined]
    const asked = users.flatMap((user) => [user, user])
    const answers = await Promise.all(
      asked.map((user) => ask(world, both, user ? { authorization: user } : {})),
    )
    for (const [index, user] of asked.entries()) {
      const seenBy = user ?? 'nobody'
      expect(answers[index]?.data).toEqual({ person: { seenBy }, rating: { seenBy } })
    }
    expect(world.rest.requests).toHaveLength(3)
    expect(world.grpc.calls).toHaveLength(3)
  })

  it('nor live groups', async () => {
    const world = await start()
    for (const user of ['Bearer a', 'Bearer b']) {
      const socket = await connectRawWebSocket(`${world.url.replace('http', 'ws')}/graphql/live`, {
        protocol: 'graphql-transport-ws',
        headers: { authorization: user },
      })
      onTestFinished(() => void socket.close())
      socket.sendJson({ type: 'connection_init' })
      await socket.next()
      socket.sendJson({
        id: 'a',
        type: 'subscribe',
        payload: { query: 'query @live { person(id: "1") { seenBy } }' },
      })
      expect((await socket.next()).json().payload.data.person.seenBy).toBe(user)
    }
  })
})

describe('rule 6: a client that leaves cancels its backend calls, gRPC and REST', () => {
  const body = 'person(id: "slow") { name } slowRating { stars }'

  /** Starts the operation, and returns how its client leaves. */
  const transports: [string, (world: World) => Promise<() => unknown>][] = [
    ['HTTP', (world) => leaveHttp(world, `{ ${body} }`, 'application/json')],
    [
      'multipart',
      (world) => leaveHttp(world, `{ quick: __typename ... @defer { ${body} } }`, 'multipart/mixed'),
    ],
    ['SSE', (world) => leaveHttp(world, `query @live { ${body} }`, 'text/event-stream')],
    [
      'WebSocket, by `complete`',
      async (world) => {
        const socket = await openLive(world)
        socket.sendJson({ id: 'a', type: 'subscribe', payload: { query: `query @live { ${body} }` } })
        return () => socket.sendJson({ id: 'a', type: 'complete' })
      },
    ],
    [
      'WebSocket, by closing',
      async (world) => {
        const socket = await openLive(world)
        socket.sendJson({ id: 'a', type: 'subscribe', payload: { query: `{ ${body} }` } })
        return () => socket.terminate()
      },
    ],
  ]

  async function leaveHttp(world: World, query: string, accept: string): Promise<() => unknown> {
    if (accept === 'multipart/mixed') {
      const response = await requestMultipart(`${world.url}/graphql`, {
        headers: { accept },
        body: { query },
      })
      await response.nextPart()
      return () => response.abort()
    }
    const abort = new AbortController()
    const answer = fetch(`${world.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify({ query }),
      signal: abort.signal,
    })
    answer.catch(() => {})
    return () => abort.abort()
  }

  it.each(transports)('%s', async (name, begin) => {
    const world = await start()
    world.grpc.handle('people.v1.People/GetPerson', () => new Promise(() => {}))
    world.rest.handle(() => new Promise(() => {}))
    const leave = await begin(world)
    await waitUntil(() => world.grpc.calls.length > 0 && world.rest.requests.length > 0)
    const leftAt = performance.now()
    leave()
    const cancelled = await Promise.all([
      waitUntil(() => world.grpc.calls.at(-1)?.cancelledAt),
      waitUntil(() => world.rest.requests.at(-1)?.cancelledAt),
    ])
    const [grpc = 0, rest = 0] = cancelled.map((at) => Math.round(at - leftAt))
    process.stderr.write(`${name}: gRPC cancelled after ${grpc} ms, REST after ${rest} ms\n`)
    // 50 ms on a quiet machine; the bound leaves room for a busy one.
    expect(Math.max(grpc, rest)).toBeLessThan(500)
  })
})

describeWithRedis('two gateways and one Redis', () => {
  it("a mutation on one evicts the other's cache and updates its live queries; entries are shared", async () => {
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    const a = await start({ redisUrl: redis.url })
    const b = await startBeside(a, { redisUrl: redis.url })
    expect((await ask(a, PERSON)).cache).toBe('MISS')
    expect((await ask(b, PERSON)).cache).toBe('HIT')
    expect(a.grpc.calls).toHaveLength(1)
    const socket = await openLive(b)
    socket.sendJson({ id: 'a', type: 'subscribe', payload: { query: `query @live ${PERSON}` } })
    expect((await socket.next()).json().payload.data.person.name).toBe('Ada')

    await ask(a, RENAME)
    expect((await ask(a, PERSON)).data.person.name).toBe('Grace')
    await expect.poll(async () => (await ask(b, PERSON)).data.person.name).toBe('Grace')
    expect((await socket.next()).json().payload.data.person.name).toBe('Grace')
  })
})
