import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGrpcSource, useGrpcSource } from '@vinyasa/grpc-source'
import type { PlanEvent } from '@vinyasa/source-kit'
import { createNodeHandler } from '@vinyasa/node-handler'
import { usePipeline } from '@vinyasa/core/pipeline'
import { createRestConnector, field, useRestConnector } from '@vinyasa/rest-connector'
import { createDisposables, grpcError, startGrpcBackend, startRestBackend } from '@vinyasa/test-kit'
import { createYoga, type Plugin } from 'graphql-yoga'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { USER_PLUGINS, type Seen } from './user-plugins.ts'

// Every plugin on either side of every source, behind both doors: what it sees and what clients get is the same with
// plans as without, for good answers, failed calls, failed joins, nulls that spread, and errors that are masked.

const DOORS = ['yoga', 'node-handler', 'node-handler, known queries'] as const
const SIDES = ['before', 'after'] as const
type Door = (typeof DOORS)[number]
type Side = (typeof SIDES)[number]

const PROTO = `syntax = "proto3";
service Users { rpc GetUser(Id) returns (User); }
message Id { string id = 1; }
message User { string id = 1; string name = 2; }`

const cleanup = createDisposables(afterAll)
const urls = { grpc: '', rest: '' }
/** Requests of either backend. */
let calls = 0

beforeAll(async () => {
  const grpc = cleanup.use(
    await startGrpcBackend({
      protos: PROTO,
      handlers: {
        'Users/GetUser': ({ id }) => {
          calls++
          if (id === 'none') throw grpcError(13, 'secret')
          return { id, name: 'Ada' }
        },
      },
    }),
  )
  const rest = cleanup.use(
    await startRestBackend(({ url }) => {
      calls++
      const [, resource, id] = url.pathname.split('/')
      if (resource === 'user') return id === 'none' ? { status: 500 } : { json: { id, name: 'Ada' } }
      if (resource === 'posts') return { json: ['1', id, '1'].map((userId) => ({ userId, text: 'hello' })) }
      const ids = url.searchParams.getAll('ids')
      if (ids.includes('none')) return { status: 503 }
      return { json: ids.map((one) => ({ id: one, name: one === 'unnamed' ? null : 'Ada' })) }
    }),
  )
  urls.grpc = grpc.address
  urls.rest = rest.url
})

interface SourceSettings extends Seen {
  readonly plans: boolean
  readonly onPlan: (event: PlanEvent) => void
}

/** Whoever calls a backend for an operation tells what it finds around it. */
function tell({ log, span }: Seen, context: unknown): void {
  log.push(`called for ${(context as { tenant?: string }).tenant} within ${span.getStore()}`)
}

async function grpcPlugin(name: string, { plans, onPlan, ...seen }: SourceSettings): Promise<Plugin> {
  const source = await createGrpcSource({
    name: 'users',
    protoText: { 'users.proto': PROTO },
    endpoint: urls.grpc,
    logger: { warn() {}, error() {} },
    typeNames: name === 'user' ? {} : { User: 'Member' },
    methods: { 'Users.GetUser': { schema: { name } } },
    metadata: {
      fromContext(context) {
        tell(seen, context)
        return {}
      },
    },
    plans,
    onPlan,
  })
  onTestFinished(() => source.close())
  return useGrpcSource(source) as Plugin
}

function restPlugin({ plans, onPlan, ...seen }: SourceSettings): Plugin {
  const connector = createRestConnector('users', {
    baseUrl: urls.rest,
    noRetry: true,
    interceptors: [
      (_request, { context, endpoint, args }) => {
        tell(seen, context)
        const ids = endpoint === 'authors' ? (args['ids'] as string[]) : []
        if (ids.includes('crash')) throw new Error('a secret of the interceptor')
      },
    ],
    endpoints: [
      {
        name: 'user',
        path: '/user/{id}',
        responseSchema: {
          typeName: 'User',
          fields: { id: field.id.required, name: field.string.required },
        },
      },
      {
        name: 'posts',
        path: '/posts/{by}',
        returnType: '[Post!]',
        responseSchema: { typeName: 'Post', fields: { userId: 'id', text: 'string' } },
      },
      {
        name: 'authors',
        path: '/authors',
        args: { ids: '[ID!]!' },
        queryParams: { ids: '{ids}' },
        returnType: '[User!]',
        rootField: false,
        on: [
          { type: 'Post', field: 'author', args: { ids: '{userId}' }, batch: { key: 'id' } },
          { type: 'User', field: 'same', args: { ids: '{id}' }, batch: { key: 'id', many: true } },
        ],
      },
    ],
    plans,
    onPlan,
  })
  onTestFinished(() => connector.close())
  return useRestConnector(connector) as Plugin
}

const SOURCES = {
  grpc: async (settings: SourceSettings) => [await grpcPlugin('user', settings)],
  rest: async (settings: SourceSettings) => [restPlugin(settings)],
  both: async (settings: SourceSettings) => [await grpcPlugin('member', settings), restPlugin(settings)],
} as const
type Source = keyof typeof SOURCES

const posts = (by: string): string => `{ posts(by: "${by}") { userId author { name same { id name } } } }`

interface Query {
  readonly query: string
  readonly says: string
  /** Whether its plan is given up, for ordinary execution to word the answer. */
  readonly fallsBack?: true
}

const QUERIES: Readonly<Record<Source, Readonly<Record<string, Query>>>> = {
  grpc: {
    'a good call': { query: '{ user(id: "1") { id name } }', says: '"Ada"' },
    'a failed call': {
      query: '{ user(id: "none") { id } more: user(id: "1") { name } }',
      says: '"user":null',
      fallsBack: true,
    },
  },
  rest: {
    'a good call': { query: '{ user(id: "1") { id name } }', says: '"Ada"' },
    'a good join': { query: posts('2'), says: '"same":[{"id":"2","name":"Ada"}]' },
    'a failed call': {
      query: '{ user(id: "none") { id } more: user(id: "1") { name } }',
      says: '"user":null',
      fallsBack: true,
    },
    'a failed join': { query: posts('none'), says: '{"userId":"1","author":null}', fallsBack: true },
    'a null that spreads below a join, and is masked': {
      query: posts('unnamed'),
      says: '"Unexpected error."',
      fallsBack: true,
    },
    'an error within a join that keeps its cause to itself': {
      query: posts('crash'),
      says: '"path":["posts",2,"author"]',
      fallsBack: true,
    },
  },
  both: {
    'good calls and a good join': {
      query: `{ member(id: "1") { name } ${posts('2').slice(1)}`,
      says: '"data":{"member":{"name":"Ada"},"posts":[',
    },
    'one failed call': {
      query: '{ user(id: "1") { name } member(id: "none") { id } }',
      says: '"data":{"user":{"name":"Ada"},"member":null}',
      fallsBack: true,
    },
    'a null that spreads below a join': {
      query: `{ member(id: "1") { name } ${posts('unnamed').slice(1)}`,
      says: '{"userId":"unnamed","author":null}',
      fallsBack: true,
    },
  },
}

interface Answer {
  readonly http: string
  readonly seen: readonly string[]
  readonly calls: number
}

async function start(
  source: Source,
  { door, side, plans, plugin }: { door: Door; side: Side; plans: boolean; plugin?: (seen: Seen) => Plugin },
): Promise<{ ask(query: string): Promise<Answer>; events: PlanEvent[] }> {
  const seen: Seen = { log: [], span: new AsyncLocalStorage() }
  const events: PlanEvent[] = []
  const own = await SOURCES[source]({ ...seen, plans, onPlan: (event) => void events.push(event) })
  const others = plugin ? [plugin(seen)] : []
  const yoga = createYoga({
    logging: false,
    plugins: [
      ...(side === 'before' ? [...others, ...own] : [...own, ...others]),
      ...(door === 'node-handler, known queries' ? [usePipeline()] : []),
    ],
  })
  const handler = createNodeHandler(yoga)
  expect(handler.slowPathReasons).toEqual([])
  const server = createServer(door === 'yoga' ? yoga : handler)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  return {
    events,
    async ask(query) {
      const before = calls
      const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
      const cost = response.headers.get('x-cost')
      const http = `${response.status} x-cost: ${cost} ${await response.text()}`
      return { http, seen: seen.log.splice(0), calls: calls - before }
    },
  }
}

describe.each(Object.keys(SOURCES) as Source[])('%s', (source) => {
  describe.each(DOORS)('behind the door of %s', (door) => {
    describe.each(SIDES)('a plugin %s the source', (side) => {
      it.each(USER_PLUGINS.map((row) => [row.what, row] as const))('%s', async (_what, row) => {
        const { plugin, shows, plans = 'always', executes = true } = row
        const on = await start(source, { door, side, plans: true, plugin })
        const off = await start(source, { door: 'yoga', side, plans: false, plugin })
        let all = ''
        for (const [name, { query }] of Object.entries(QUERIES[source])) {
          const wanted = await off.ask(query)
          // When the query is new, and when it is known.
          for (const round of [1, 2, 3]) {
            const got = await on.ask(query)
            expect({ name, round, ...got }).toEqual({ name, round, ...wanted })
          }
          all += `${wanted.http} ${wanted.seen.join()}`
        }
        expect(all).toContain(shows)
        // In the pipeline what stands around the execution stands around plans, on whichever side of the source it is.
        const isAround = plans === 'after' ? executes : plans === 'always'
        const mayPlan =
          door === 'yoga' ? plans === 'always' || (plans === 'after' && side === 'after') : isAround
        expect(on.events.some(({ outcome }) => outcome === 'planned')).toBe(mayPlan)
      })
    })

    it.each(Object.entries(QUERIES[source]))('%s', async (_what, { query, says, fallsBack }) => {
      const { ask, events } = await start(source, { door, side: 'after', plans: true })
      const { http } = await ask(query)
      expect(events.map(({ outcome }) => outcome)).toEqual(fallsBack ? ['planned', 'fell-back'] : ['planned'])
      expect(http).toContain(says)
      expect(http).not.toContain('secret')
    })
  })
})
