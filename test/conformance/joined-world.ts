import { createGrpcSource, type GrpcSourceOptions, useGrpcSource } from '@vinyasa/grpc-source'
import type { PlanEvent } from '@vinyasa/source-kit'
import { createRestConnector, useRestConnector } from '@vinyasa/rest-connector'
import type { Disposables } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { createYoga, type Plugin } from 'graphql-yoga'

// Users by gRPC and things by REST, each with fields that the other joins to them; operations on both, and what there is.

export const PROTO = `syntax = "proto3"; package p;
service Users { rpc GetUser(Id) returns (User); rpc ListUsers(Id) returns (UserList); rpc BatchUsers(Ids) returns (UserList); }
message Id { string id = 1; }
message Ids { repeated string ids = 1; }
message User { string id = 1; string name = 2; optional string part_id = 3; string team = 4; int32 rank = 5; }
message UserList { repeated User users = 1; }`

export type Row = Readonly<Record<string, unknown>>

/** What the backends hold: it is the same with and without plans. */
export interface Data {
  readonly users: readonly Row[]
  readonly things: readonly unknown[]
  /** Calls that fail, by their names. */
  readonly failing: ReadonlySet<string>
  readonly delays: Readonly<Record<string, number>>
}

export type Ask = (query: string, variables: object) => Promise<string>

export interface Gateway {
  readonly plans: boolean
  readonly tell: (event: PlanEvent) => void
  readonly maxRequestsPerOperation?: number | undefined
  readonly cleanup: Disposables
  readonly grpc: Pick<GrpcSourceOptions, 'endpoint' | 'transport'>
  readonly restUrl: string
}

/** Both sources on one server. */
export async function serveJoined(gateway: Gateway): Promise<Ask> {
  const plugins = await openJoined(gateway)
  const yoga = createYoga({ logging: false, maskedErrors: false, plugins: plugins as Plugin[] })
  return async (query, variables) => {
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    return `${response.status} ${inOrder(await response.text())}`
  }
}

/** Both sources, as plugins. */
export async function openJoined(gateway: Gateway): Promise<readonly object[]> {
  const { plans, tell, maxRequestsPerOperation, cleanup } = gateway
  const batch = { method: 'p.Users.BatchUsers', keys: 'ids', items: 'users' }
  const grpc = cleanup.use(
    await createGrpcSource({
      name: 'users',
      protoText: { 'users.proto': PROTO },
      ...gateway.grpc,
      expose: 'all',
      methods: {
        'p.Users.GetUser': { schema: { name: 'user', type: 'QUERY' }, retry: { maxRetries: 0 } },
        'p.Users.ListUsers': { schema: { name: 'users', type: 'QUERY' }, retry: { maxRetries: 0 } },
        'p.Users.BatchUsers': { retry: { maxRetries: 0 } },
      },
      joins: [
        { type: 'Thing', field: 'owner', batch: { ...batch, parentKey: 'ownerId' } },
        { type: 'Thing', field: 'needed', required: true, batch: { ...batch, parentKey: 'ownerId' } },
        { type: 'Thing', field: 'team', batch: { ...batch, parentKey: 'name', itemKey: 'team', many: true } },
        { type: 'User', field: 'mates', batch: { ...batch, parentKey: 'team', itemKey: 'team', many: true } },
        {
          type: 'User',
          field: 'peers',
          batch: { ...batch, parentKey: 'team', itemKey: 'team', many: true, maxBatchSize: 1 },
        },
      ],
      logger: { warn() {}, error() {} },
      plans,
      onPlan: tell,
    }),
  )
  const on = { type: 'User', args: { ids: '{id}' }, batch: { key: 'ownerId', many: true } }
  const joined = {
    args: { ids: '[ID!]!', limit: 'Int' },
    queryParams: { ids: '{ids}', limit: '{limit}' },
    returnType: '[Thing]',
    rootField: false,
  } as const
  const shop = cleanup.use(
    createRestConnector('shop', {
      baseUrl: gateway.restUrl,
      noRetry: true,
      maxRequestsPerOperation,
      plans,
      onPlan: tell,
      endpoints: [
        {
          name: 'things',
          path: '/things',
          returnType: '[Thing]',
          responseSchema: {
            typeName: 'Thing',
            fields: { id: 'id!', name: 'string', ownerId: 'id', parts: '[Thing]' },
          },
        },
        { name: 'thing', path: '/thing', responsePath: '$[0]', returnType: 'Thing' },
        { ...joined, name: 'owned', path: '/owned', on: { ...on, field: 'owns' } },
        {
          ...joined,
          name: 'partsOf',
          path: '/parts',
          on: { type: 'User', field: 'part', args: { ids: '{partId}' }, batch: { key: 'id' } },
        },
        {
          ...joined,
          name: 'near',
          path: '/near',
          on: { type: 'Thing', field: 'near', args: { ids: '{name}' }, batch: { key: 'id' } },
        },
        {
          ...joined,
          name: 'ranked',
          path: '/ranked',
          on: { type: 'User', field: 'ranked', args: { ids: '{rank}' }, batch: { key: 'id' } },
        },
      ],
    }),
  )
  return [useGrpcSource(grpc), useRestConnector(shop)]
}

/** Errors of fields that are resolved at the same time come in any order. */
function inOrder(json: string): string {
  const { errors, ...result } = JSON.parse(json) as { errors?: object[]; data?: unknown }
  if (!errors) return json
  return JSON.stringify({ errors: errors.map((error) => JSON.stringify(error)).sort(), ...result })
}

const limit = fc.constantFrom('', '', '(limit: 2)', '(limit: $limit)')

/** Selections on a user and on a thing, so deep. */
function userSet(depth: number): fc.Arbitrary<string> {
  const own = fc.constantFrom('id name', 'name', '__typename id', '...U')
  if (depth === 0) return own
  const below = thingSet(depth - 1)
  const joins = fc.oneof(
    fc.tuple(limit, below).map(([args, set]) => `owns${args} { ${set} }`),
    fc.tuple(limit, below).map(([args, set]) => `alias: owns${args} { ${set} }`),
    fc.tuple(limit, below).map(([args, set]) => `part${args} { ${set} }`),
    userSet(depth - 1).map((set) => `mates { ${set} }`),
    userSet(depth - 1).map((set) => `peers { ${set} }`),
    below.map((set) => `ranked { ${set} }`).filter((text) => text.length < 40),
  )
  return fc
    .tuple(own, fc.uniqueArray(joins, { maxLength: 2, selector: (text) => text.split(/\W/)[0] }))
    .map(([fields, joined]) => `${joined.join(' ')} ${fields}`)
}

function thingSet(depth: number): fc.Arbitrary<string> {
  const own = fc.constantFrom('id', 'name id', '__typename name')
  if (depth === 0) return own
  const below = userSet(depth - 1)
  const joins = fc.oneof(
    below.map((set) => `owner { ${set} }`),
    below.map((set) => `owner @include(if: $yes) { ${set} }`),
    below.map((set) => `team { ${set} }`),
    thingSet(depth - 1).map((set) => `near { ${set} }`),
    userSet(0).map((set) => `needed { ${set} }`),
    thingSet(depth - 1).map((set) => `parts { ${set} }`),
  )
  return fc
    .tuple(own, fc.uniqueArray(joins, { maxLength: 2, selector: (text) => text.split(/\W/)[0] }))
    .map(([fields, joined]) => `${fields} ${joined.join(' ')}`)
}

const root = rootOf(userSet(3), thingSet(3))

function rootOf(ofUser: fc.Arbitrary<string>, ofThing: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof(
    ofUser.map((set) => `user(id: "a") { ${set} }`),
    ofUser.map((set) => `users(id: "a") { users { ${set} } }`),
    ofThing.map((set) => `things { ${set} }`),
    ofThing.map((set) => `thing { ${set} }`),
  )
}

function operation(fields: readonly string[], fragments = ''): string {
  const selected = fields.map((field, index) => `f${index}: ${field}`).join(' ')
  const text = `{ ${selected} } ${fragments}`
  const used = (name: string, definition: string): string => (text.includes(name) ? definition : '')
  const declared = [used('$limit', '$limit: Int'), used('$yes', '$yes: Boolean!')].filter(Boolean)
  return `query${declared.length > 0 ? `(${declared.join()})` : ''} ${text}${used('...U', 'fragment U on User { id team }')}`
}

/** Operations. */
export const document: fc.Arbitrary<string> = fc
  .array(root, { minLength: 1, maxLength: 2 })
  .map((fields) => operation(fields))

/** Operations whose fields share selections: fragments that each of them spreads. */
export const sharingDocument: fc.Arbitrary<string> = fc
  .tuple(
    fc.array(rootOf(fc.constant('...S'), fc.constantFrom('...T', 'id parts { ...T }')), {
      minLength: 2,
      maxLength: 3,
    }),
    userSet(3),
    thingSet(3),
  )
  .map(([fields, ofUser, ofThing]) => {
    const spread = fields.join()
    const fragments = [
      spread.includes('...S') ? `fragment S on User { ${ofUser} } ` : '',
      spread.includes('...T') ? `fragment T on Thing { ${ofThing} } ` : '',
    ]
    return operation(fields, fragments.join(''))
  })

const key = fc.constantFrom('a', 'b', 'c')
const user = fc.record({
  id: key,
  name: fc.constantFrom('', 'a', '"quoted" Ł'),
  partId: fc.option(fc.constantFrom('a', 'b', ''), { nil: undefined }),
  team: fc.constantFrom('', 'a', 'b'),
  rank: fc.integer({ min: 0, max: 2 }),
})
const soundThing = fc.record({
  id: key,
  name: fc.constantFrom('a', 'b', ''),
  ownerId: fc.constantFrom('a', 'b', 'c', 'd'),
})
const thing = fc.oneof(
  { weight: 12, arbitrary: soundThing },
  {
    weight: 4,
    arbitrary: fc
      .tuple(soundThing, fc.array(soundThing, { maxLength: 2 }))
      .map(([one, parts]) => ({ ...one, parts })),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      id: fc.constantFrom<unknown>('a', 1, null, {}),
      name: fc.constantFrom<unknown>(null, 7, {}),
      ownerId: fc.constantFrom<unknown>('a', 1, null, undefined, '', {}),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, 'text') },
)
const CALLS = ['GetUser', 'ListUsers', 'BatchUsers', 'things', 'thing', 'owned', 'parts', 'near', 'ranked']
/** What the backends hold and do. */
export const world: fc.Arbitrary<Data> = fc.record({
  users: fc.array(user, { minLength: 1, maxLength: 4 }),
  things: fc.array(thing, { maxLength: 4 }),
  failing: fc
    .oneof(
      { weight: 5, arbitrary: fc.constant([]) },
      { weight: 2, arbitrary: fc.subarray(CALLS, { minLength: 1, maxLength: 1 }) },
    )
    .map((names) => new Set<string>(names)),
  delays: fc.dictionary(
    fc.constantFrom(...CALLS, 'BatchUsers a', 'BatchUsers b', 'owned ids,a'),
    fc.constantFrom(0, 2, 6),
  ),
})
/** What comes at different times, and is mostly sound. */
export const lateWorld: fc.Arbitrary<Data> = fc.record({
  users: fc.array(user, { minLength: 2, maxLength: 4 }),
  things: fc.oneof(
    {
      weight: 9,
      arbitrary: fc.array(
        fc
          .tuple(soundThing, fc.array(soundThing, { minLength: 1, maxLength: 2 }))
          .map(([one, parts]) => ({ ...one, parts })),
        { minLength: 1, maxLength: 3 },
      ),
    },
    { weight: 1, arbitrary: fc.array(thing, { maxLength: 4 }) },
  ),
  failing: fc.oneof(
    { weight: 9, arbitrary: fc.constant(new Set<string>()) },
    { weight: 1, arbitrary: fc.constantFrom(...CALLS).map((name) => new Set([name])) },
  ),
  delays: fc
    .tuple(...CALLS.map(() => fc.constantFrom(0, 3, 9)))
    .map((times) => Object.fromEntries(CALLS.map((name, index) => [name, times[index] ?? 0]))),
})
export const variables: fc.Arbitrary<object> = fc.record({
  yes: fc.boolean(),
  limit: fc.constantFrom<unknown>(2, 2, null, 'x'),
})

/** Where nothing fails. */
export const sound: Data = {
  users: [
    { id: 'a', name: 'Ada', partId: 't', team: 'x' },
    { id: 'b', name: 'Bob', partId: 't', team: 'x' },
  ],
  things: [{ id: 't', name: 'x', ownerId: 'a' }],
  failing: new Set(),
  delays: {},
}
