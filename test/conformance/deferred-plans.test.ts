import { createGrpcSource, useGrpcSource } from '@vinyasa/grpc-source'
import type { PlanEvent } from '@vinyasa/source-kit'
import { createRestConnector, field, useRestConnector } from '@vinyasa/rest-connector'
import { createDisposables, grpcError, startGrpcBackend, startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { createYoga, type Plugin } from 'graphql-yoga'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type DeferInternals, resolveOptions } from '../../packages/defer-splitter/src/options.ts'
import { createDeferSplitter } from '../../packages/defer-splitter/src/plugin.ts'
import { mergeDeferred } from '../bench/src/merge-deferred.ts'

// For clients that take no parts a plan answers: all parts together are what it gives, and what they are without plans,
// whatever is deferred, and no root field is called twice.

const PROTO = `syntax = "proto3";
import "google/protobuf/field_mask.proto";
service Users {
  rpc GetUser(Id) returns (User);
  rpc BatchGetUsers(Ids) returns (UserList);
}
message Id { string id = 1; google.protobuf.FieldMask read_mask = 2; }
message Ids { repeated string ids = 1; }
message UserList { repeated User users = 1; }
message User { string id = 1; string name = 2; Home home = 3; repeated Home homes = 4; }
message Home { string city = 1; string street = 2; }`

const home = (id: string, number: number): object => ({ city: `city ${id}`, street: `street ${number}` })
const userOf = (id: string): Record<string, unknown> => ({
  id,
  name: id === '3' ? '' : `user "${id}"`,
  ...(id === '2' ? {} : { home: home(id, 0) }),
  homes: [home(id, 1), home(id, 2)],
})

/**
 * Of one server: a test that ran out of time goes on beside the next one, and its calls are not those of the other.
 * `calls`: of root fields.
 */
async function openBackends(calls: string[]): Promise<{ readonly grpc: string; readonly rest: string }> {
  const cleanup = createDisposables(onTestFinished)
  const grpc = cleanup.use(
    await startGrpcBackend({
      protos: PROTO,
      handlers: {
        'Users/GetUser': ({ id, readMask }) => {
          calls.push(`user ${id}`)
          if (id === 'none') throw grpcError(13, 'secret')
          // Gives nothing that it was not asked for.
          const asked = (readMask?.paths as string[] | undefined)?.map((path) => path.split('.')[0])
          return Object.fromEntries(
            Object.entries(userOf(id)).filter(([key]) => asked?.includes(key) ?? true),
          )
        },
        'Users/BatchGetUsers': ({ ids }) => ({ users: (ids as string[]).map(userOf) }),
      },
    }),
  )
  const rest = cleanup.use(
    await startRestBackend(({ url }) => {
      if (url.pathname === '/tags') {
        const ids = url.searchParams.getAll('ids')
        if (ids.includes('crash')) return { status: 500 }
        return { json: ids.map((id) => ({ id, word: id === '2' ? null : `tag ${id}` })) }
      }
      calls.push(url.pathname)
      const [, , by] = url.pathname.split('/')
      if (by === 'none') return { status: 500 }
      return {
        json: ['1', '2', '3', '1'].map((id) => ({
          id,
          title: `title ${id}`,
          userId: id,
          tagId: by === 'crash' ? by : id,
        })),
      }
    }),
  )
  return { grpc: grpc.address, rest: rest.url }
}

interface Server {
  readonly events: readonly PlanEvent[]
  ask(
    query: string,
    accept: string,
  ): Promise<{ readonly parts: readonly any[]; readonly calls: readonly string[] }>
}

async function start(
  plans: boolean,
  place: 'first' | 'last',
  internals: Partial<DeferInternals>,
): Promise<Server> {
  const calls: string[] = []
  const urls = await openBackends(calls)
  const events: PlanEvent[] = []
  const onPlan = (event: PlanEvent): void => void events.push(event)
  const source = await createGrpcSource({
    name: 'users',
    protoText: { 'users.proto': PROTO },
    endpoint: urls.grpc,
    logger: { warn() {}, error() {} },
    fieldMasks: true,
    methods: { 'Users.GetUser': { schema: { name: 'user' } } },
    joins: [
      {
        type: 'Post',
        field: 'author',
        batch: { method: 'Users.BatchGetUsers', keys: 'ids', items: 'users', parentKey: 'userId' },
      },
    ],
    plans,
    onPlan,
  })
  const connector = createRestConnector('posts', {
    baseUrl: urls.rest,
    noRetry: true,
    endpoints: [
      {
        name: 'posts',
        path: '/posts/{by}',
        returnType: '[Post!]',
        responseSchema: {
          typeName: 'Post',
          fields: { id: 'id!', title: 'string', userId: 'string', tagId: 'string' },
        },
      },
      {
        name: 'tags',
        path: '/tags',
        args: { ids: '[ID!]!' },
        queryParams: { ids: '{ids}' },
        returnType: '[Tag!]',
        rootField: false,
        responseSchema: { typeName: 'Tag', fields: { id: field.id.required, word: field.string } },
        on: { type: 'Post', field: 'tag', args: { ids: '{tagId}' }, batch: { key: 'id' } },
      },
    ],
    plans,
    onPlan,
  })
  const sources = [useGrpcSource(source), useRestConnector(connector)] as Plugin[]
  const defer = createDeferSplitter(resolveOptions({ maxDeferredFragments: 64 }, internals))
  const yoga = createYoga({
    logging: false,
    plugins: place === 'first' ? [...sources, defer] : [defer, ...sources],
  })
  onTestFinished(async () => {
    await source.close()
    await connector.close()
  })
  return {
    events,
    async ask(query, accept) {
      calls.length = 0
      const response = await yoga.fetch('http://localhost/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept },
        body: JSON.stringify({ query, variables: { yes: true, no: false } }),
      })
      const text = await response.text()
      if (!response.headers.get('content-type')?.startsWith('multipart/'))
        return { parts: [JSON.parse(text)], calls: [...calls] }
      const bodies = text
        .split(/\r\n---(?:--)?(?=\r\n)/)
        .map((part) => part.slice(part.indexOf('\r\n\r\n') + 4))
      return {
        parts: bodies.filter((body) => body.startsWith('{')).map((body) => JSON.parse(body)),
        calls: [...calls],
      }
    },
  }
}

const TYPES: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
  Query: {
    'user(id: "1")': 'User',
    'two: user(id: "2")': 'User',
    'none: user(id: "none")': 'User',
    'posts(by: "1")': 'Post',
    'lost: posts(by: "none")': 'Post',
    'untagged: posts(by: "crash")': 'Post',
    __typename: undefined,
  },
  User: { id: undefined, name: undefined, 'called: name': undefined, home: 'Home', homes: 'Home' },
  Home: { city: undefined, street: undefined, __typename: undefined },
  Post: { id: undefined, title: undefined, author: 'User', tag: 'Tag' },
  Tag: { id: undefined, word: undefined },
}
const DIRECTIVES = [
  '@defer',
  '@defer',
  '@defer(label: "a")',
  '@defer(if: $yes)',
  '@defer(if: $no)',
  '@include(if: $yes)',
  '@skip(if: $yes)',
  '',
]

/** What is selected on a type: fields, and fragments of every kind. */
function selections(type: string, depth: number): fc.Arbitrary<string> {
  const fields = Object.entries(TYPES[type] ?? {}).filter(([, below]) => depth > 0 || below === undefined)
  const one = fc
    .constantFrom(...fields)
    .chain(([name, below]) =>
      below === undefined
        ? fc.constant(name)
        : selections(below, depth - 1).map((selected) => `${name} ${selected}`),
    )
  if (depth === 0) return selected(one)
  const fragment = fc
    .tuple(fc.constantFrom(...DIRECTIVES), selections(type, depth - 1))
    .map(([directive, below]) => `... on ${type} ${directive} ${below}`)
  return selected(fc.oneof({ weight: 3, arbitrary: one }, { weight: 1, arbitrary: fragment }))
}

function selected(item: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(item, { minLength: 1, maxLength: 4 }).map((items) => `{ ${items.join(' ')} }`)
}

const operations = selections('Query', 4).map((text) => {
  const names = ['$yes', '$no'].filter((name) => text.includes(name))
  return names.length === 0 ? text : `query (${names.map((name) => `${name}: Boolean!`).join(' ')}) ${text}`
})

const PATCHES = 'multipart/mixed;deferSpec=20220824, application/json'

function merged(parts: readonly any[]): { readonly data: unknown; readonly errors: readonly string[] } {
  const patches = parts.flatMap((part) => part.incremental ?? [])
  const usable = parts.map((part) => ({
    ...part,
    incremental: (part.incremental ?? []).filter((patch: any) => patch.data),
  }))
  const errors = [...parts, ...patches].flatMap(({ errors: all = [] }) => all)
  return {
    data: parts[0].data && mergeDeferred(usable),
    errors: errors.map(({ message, path }: any) => `${message} ${path?.join('.')}`).sort(),
  }
}

it('calls are those of their own server, whatever another one is asked meanwhile', async () => {
  const [one, other] = [await start(true, 'first', {}), await start(true, 'first', {})]
  // Seed -217091667 failed with it once the test before had run out of time, and alone never.
  const query = '{ ... on Query @defer { none: user(id: "none") { id } } }'
  const asked = Array.from({ length: 10 }, async () => one.ask(query, PATCHES))
  for (let run = 0; run < 5; run++) expect((await other.ask(query, PATCHES)).calls).toEqual(['user none'])
  await Promise.all(asked)
})

describe.each(['first', 'last'] as const)('sources %s', (place) => {
  const settings: readonly (readonly [string, Partial<DeferInternals>])[] = [
    ['as it comes', {}],
    ['with few patches', { maxPatches: 3 }],
  ]
  it.each(settings)(
    '%s, all parts are what they are without plans',
    { timeout: 120_000 },
    async (_name, internals) => {
      const [planned, plain] = [await start(true, place, internals), await start(false, place, internals)]
      let streams = 0
      await fc.assert(
        fc.asyncProperty(operations, async (query) => {
          const [by, without] = [await planned.ask(query, PATCHES), await plain.ask(query, PATCHES)]
          if (by.parts.length > 1) streams++
          expect(merged(by.parts)).toEqual(merged(without.parts))
          // Fragments with the same root field share a call that is under way: on a busy machine it may have ended.
          expect(new Set(by.calls)).toEqual(new Set(without.calls))
          const whole = await planned.ask(query, 'application/json')
          expect(whole.calls).toEqual([...new Set(whole.calls)])
          expect(merged(whole.parts)).toEqual(merged((await plain.ask(query, 'application/json')).parts))
          // Where something failed, fragments keep it to themselves.
          const isWell = merged(by.parts).errors.length === 0
          expect(isWell ? merged(by.parts) : merged(whole.parts)).toEqual(merged(whole.parts))
        }),
        { numRuns: Number(process.env['PROPERTY_RUNS'] ?? 150) },
      )
      expect(streams).toBeGreaterThan(20)
      expect(planned.events.filter(({ outcome }) => outcome === 'planned').length).toBeGreaterThan(30)
    },
  )
})
