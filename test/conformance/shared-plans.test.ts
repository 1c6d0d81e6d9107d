import { createGrpcSource, useGrpcSource } from '@vinyasa/grpc-source'
import type { PlanEvent } from '@vinyasa/source-kit'
import { createRestConnector, field, useRestConnector } from '@vinyasa/rest-connector'
import { createDisposables, grpcError, startGrpcBackend, startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

// Operations with fields of several sources: whichever source plans them, clients get what ordinary execution gives.

const PROTO = `syntax = "proto3"; package p;
service Users { rpc GetUser(Id) returns (User); rpc ListUsers(Id) returns (UserList); }
message Id { string id = 1; }
message User { string id = 1; string name = 2; repeated string tags = 3; User boss = 4; }
message UserList { repeated User users = 1; }`

const thing = {
  typeName: 'Thing',
  fields: { id: field.id.required, name: field.string, count: field.int, part: { type: 'Thing' } },
} as const

/** What every backend does for an id: it is the same with and without plans. */
type Reply = { readonly fails: boolean; readonly value: unknown; readonly delayMs: number }
let replies: Readonly<Record<string, Reply>> = {}
const calls: string[] = []

const cleanup = createDisposables(afterAll)
const urls = { grpc: '', rest: '' }

beforeAll(async () => {
  const answer = async (id: string, make: (value: unknown) => object): Promise<object> => {
    calls.push(`grpc ${id}`)
    const { fails, delayMs } = replies[id] as Reply
    await new Promise((resolve) => void setTimeout(resolve, delayMs))
    if (fails) throw grpcError(5, `no ${id}`)
    return make(id)
  }
  const user = (id: unknown): object => ({
    id,
    name: `"${String(id)}" Ł`,
    tags: ['a', ''],
    boss: { id: 'b' },
  })
  const grpc = cleanup.use(
    await startGrpcBackend({
      protos: PROTO,
      handlers: {
        'p.Users/GetUser': ({ id }) => answer(id, user),
        'p.Users/ListUsers': ({ id }) => answer(id, () => ({ users: [user(id), user('2')] })),
      },
    }),
  )
  const rest = cleanup.use(
    await startRestBackend(({ url }) => {
      const [, resource, id = ''] = url.pathname.split('/')
      calls.push(`${resource} ${id || url.search}`)
      if (resource === 'owners')
        return { json: url.searchParams.getAll('ids').map((one) => ({ id: one, name: `owner of ${one}` })) }
      const { fails, value, delayMs } = replies[id] as Reply
      return { status: fails ? 500 : 200, json: resource === 'things' ? [value, value] : value, delayMs }
    }),
  )
  urls.grpc = grpc.address
  urls.rest = rest.url
})

type Order = 'gRPC first' | 'REST first'
type Ask = (query: string, variables: object) => Promise<string>

async function serve(
  order: Order,
  plans: boolean,
  tell: (event: PlanEvent, source: 'grpc' | 'rest') => void,
): Promise<Ask> {
  const grpc = cleanup.use(
    await createGrpcSource({
      name: 'users',
      protoText: { 'users.proto': PROTO },
      endpoint: urls.grpc,
      expose: 'all',
      methods: {
        'p.Users.GetUser': { schema: { name: 'user', type: 'QUERY' }, retry: { maxRetries: 0 } },
        'p.Users.ListUsers': { schema: { name: 'users', type: 'QUERY' }, retry: { maxRetries: 0 } },
      },
      logger: { warn() {}, error() {} },
      plans,
      onPlan: (event) => tell(event, 'grpc'),
    }),
  )
  const shop = cleanup.use(
    createRestConnector('shop', {
      baseUrl: urls.rest,
      noRetry: true,
      plans,
      onPlan: (event) => tell(event, 'rest'),
      endpoints: [
        { name: 'thing', path: '/thing/{id}', responseSchema: thing },
        { name: 'needed', path: '/needed/{id}', returnType: 'Thing!' },
        { name: 'things', path: '/things/{id}', returnType: '[Thing]' },
      ],
    }),
  )
  const owners = cleanup.use(
    createRestConnector('owners', {
      baseUrl: urls.rest,
      noRetry: true,
      plans,
      onPlan: (event) => tell(event, 'rest'),
      endpoints: [
        { name: 'raw', path: '/raw/{id}' },
        {
          name: 'owners',
          path: '/owners',
          args: { ids: '[ID!]!' },
          queryParams: { ids: '{ids}' },
          returnType: '[Owner!]',
          rootField: false,
          responseSchema: { typeName: 'Owner', fields: { id: 'id!', name: 'string' } },
          on: { type: 'Thing', field: 'owner', args: { ids: '{id}' }, batch: { key: 'id' } },
        },
      ],
    }),
  )
  const sources = [useGrpcSource(grpc), useRestConnector([shop, owners])] as Plugin[]
  const yoga = createYoga({
    logging: false,
    schema: createSchema({
      typeDefs: 'type Query { own: String }',
      resolvers: { Query: { own: () => 'own' } },
    }),
    plugins: order === 'gRPC first' ? sources : sources.toReversed(),
  })
  return async (query, variables) => {
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    return `${response.status} ${inOrder(await response.text(), query)}`
  }
}

/**
 * Errors of fields that are resolved at the same time come in any order, and when one of them ends the operation, it is
 * a matter of time which others came before.
 */
function inOrder(json: string, query: string): string {
  const { errors, ...result } = JSON.parse(json) as { errors?: { path?: string[] }[]; data?: unknown }
  if (!errors) return json
  const ending = result.data === null ? /(\w+): needed/.exec(query)?.[1] : undefined
  const told = ending === undefined ? errors : errors.filter(({ path }) => path?.[0] === ending)
  return JSON.stringify({ errors: told.map((error) => JSON.stringify(error)).sort(), ...result })
}

/** An operation that an error ended has fields that still make calls, or no longer. */
async function settledCalls(answer: string): Promise<string[] | undefined> {
  const isCut = answer.includes('"data":null')
  if (isCut) await new Promise((resolve) => void setTimeout(resolve, 20))
  const made = calls.splice(0).sort()
  return isCut ? undefined : made
}

const IDS = ['a', 'b', 'c']
const id = fc.constantFrom('"a"', '"b"', '"c"', '$id')
const condition = fc.constantFrom('', '', '', '', ' @skip(if: $yes)', ' @include(if: $yes)')
const userSet = fc.constantFrom('id name', 'name tags', '__typename boss { id name }', '...U')
const thingSet = fc.constantFrom(
  'id name',
  'count',
  '__typename part { id count }',
  '...T',
  'name owner { name }',
)
const selected = fc.oneof(
  fc.tuple(fc.constant('user'), id, userSet),
  fc.tuple(
    fc.constant('users'),
    id,
    userSet.map((set) => `users { ${set} }`),
  ),
  fc.tuple(fc.constantFrom('thing', 'thing', 'things', 'needed'), id, thingSet),
  fc.tuple(fc.constant('raw'), id, fc.constant('')),
)
const rootField = fc.tuple(selected, condition).map(
  ([[name, arg, set], when]) =>
    (key: string) =>
      `${key}: ${name}(id: ${arg})${when} ${set && `{ ${set} }`}`,
)
const other = fc.constantFrom('', '', '', '__typename', '__typename', 'own')
const document = fc
  .tuple(fc.array(rootField, { minLength: 2, maxLength: 5 }), other, fc.boolean())
  .map(([fields, last, isNested]) => {
    const texts = fields.map((text, index) => text(`f${index}`))
    const all = [...texts.slice(0, 1), last, ...texts.slice(1)].join(' ')
    const root = isNested ? `... on Query { ${all} }` : all
    const used = (name: string, definition: string): string => (root.includes(name) ? definition : '')
    const declared = [used('$id', '$id: String!'), used('$yes', '$yes: Boolean! = false')].filter(Boolean)
    return `query Q${declared.length > 0 ? `(${declared.join()})` : ''} { ${root} never: __typename @include(if: false) }
      ${used('...U', 'fragment U on User { id tags }')} ${used('...T', 'fragment T on Thing { name count }')}`
  })
  .filter((query) => query.split(': needed').length <= 2)
const value = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ id: fc.constantFrom(...IDS), name: fc.string(), count: fc.integer({ max: 9 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      id: fc.constantFrom<unknown>('a', null, {}),
      name: fc.constantFrom<unknown>(null, {}, 'n'),
      part: fc.constantFrom<unknown>(null, 1, { id: 'b', count: 2 ** 40 }, { id: 'b', count: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, [], 'text') },
)
const reply: fc.Arbitrary<Reply> = fc.record({
  fails: fc.constantFrom(false, false, false, false, false, true),
  value,
  delayMs: fc.constantFrom(0, 0, 0, 3),
})
const variables = fc.oneof(
  { weight: 9, arbitrary: fc.record({ id: fc.constantFrom(...IDS), yes: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<object>({}, { id: {}, yes: true }, { id: 'a', yes: 'x' }, { id: null }),
  },
)

describe.each(['gRPC first', 'REST first'] as const)('operations of several sources, %s', (order) => {
  it(
    'are answered by plans as by ordinary execution, with the same calls',
    { timeout: 120_000 },
    async () => {
      const events: PlanEvent[] = []
      const ordinary = await serve(order, false, () => {})
      const planned = await serve(order, true, (event) => void events.push(event))
      await fc.assert(
        fc.asyncProperty(
          document,
          fc.record({ a: reply, b: reply, c: reply }),
          variables,
          async (query, given, values) => {
            replies = given
            const wanted = await ordinary(query, values)
            const wantedCalls = await settledCalls(wanted)
            const got = await planned(query, values)
            const gotCalls = await settledCalls(got)
            expect(got).toBe(wanted)
            expect(gotCalls).toEqual(wantedCalls)
          },
        ),
        { numRuns: 600, seed: 20261121 },
      )
      const of = (outcome: PlanEvent['outcome']): number =>
        events.filter((event) => event.outcome === outcome).length
      expect(of('planned')).toBeGreaterThan(200)
      expect(of('fell-back')).toBeGreaterThan(100)
    },
  )

  it('are planned once, and the source of the first field is told', async () => {
    const events: string[] = []
    const ask = await serve(order, true, ({ outcome }, source) => void events.push(`${source} ${outcome}`))
    const usual: Reply = { fails: false, value: { id: 'a', name: 'A', count: 1 }, delayMs: 0 }
    replies = { a: usual }
    const planners: string[] = []
    for (const query of [
      '{ user(id: "a") { id } }',
      '{ thing(id: "a") { id } }',
      '{ user(id: "a") { id } thing(id: "a") { id } }',
    ]) {
      expect(await ask(query, {})).toContain('"id":"a"')
      planners.push(...events.splice(0))
    }
    calls.length = 0
    expect(planners).toEqual(['grpc planned', 'rest planned', 'grpc planned'])
  })
})
