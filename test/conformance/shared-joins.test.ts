import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createGrpcSource, useGrpcSource, type PlanEvent } from '@vinyasa/grpc-source'
import { createRestConnector, useRestConnector } from '@vinyasa/rest-connector'
import { createDisposables, grpcError, startGrpcBackend, startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { createYoga, type Plugin } from 'graphql-yoga'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

// Objects of one kind of source with fields that the other one joins to them, and so on below those: clients get what
// ordinary execution gives, by the same calls.

const PROTO = `syntax = "proto3"; package p;
service Users { rpc GetUser(Id) returns (User); rpc ListUsers(Id) returns (UserList); rpc BatchUsers(Ids) returns (UserList); }
message Id { string id = 1; }
message Ids { repeated string ids = 1; }
message User { string id = 1; string name = 2; optional string part_id = 3; string team = 4; int32 rank = 5; }
message UserList { repeated User users = 1; }`

type Row = Readonly<Record<string, unknown>>

/** What the backends hold: it is the same with and without plans. */
interface Data {
  readonly users: readonly Row[]
  readonly things: readonly unknown[]
  /** Calls that fail, by their names. */
  readonly failing: ReadonlySet<string>
  readonly delays: Readonly<Record<string, number>>
}

let data: Data
const calls: string[] = []

const cleanup = createDisposables(afterAll)
const urls = { grpc: '', rest: '' }

async function called(name: string, asked: string): Promise<void> {
  calls.push(`${name} ${asked}`)
  await new Promise(
    (resolve) => void setTimeout(resolve, data.delays[`${name} ${asked}`] ?? data.delays[name] ?? 0),
  )
}

beforeAll(async () => {
  const answer = async (name: string, asked: string, users: readonly Row[]): Promise<object> => {
    await called(name, asked)
    if (data.failing.has(name)) throw grpcError(5, `no ${asked}`)
    return { users }
  }
  const grpc = cleanup.use(
    await startGrpcBackend({
      protos: PROTO,
      handlers: {
        'p.Users/GetUser': async ({ id }) => {
          await answer('GetUser', String(id), [])
          return data.users.find((user) => user['id'] === id) ?? {}
        },
        'p.Users/ListUsers': ({ id }) => answer('ListUsers', String(id), data.users),
        'p.Users/BatchUsers': ({ ids }) => {
          const asked = ids as string[]
          const found = data.users.filter(
            ({ id, team }) => asked.includes(String(id)) || asked.includes(String(team)),
          )
          return answer('BatchUsers', asked.toSorted().join(), found)
        },
      },
    }),
  )
  const rest = cleanup.use(
    await startRestBackend(async ({ url }) => {
      const name = url.pathname.slice(1)
      await called(name, [...url.searchParams].map(String).toSorted().join())
      return data.failing.has(name) ? { status: 500, json: {} } : { json: data.things }
    }),
  )
  urls.grpc = grpc.address
  urls.rest = rest.url
})

type Ask = (query: string, variables: object) => Promise<string>

async function serve(
  plans: boolean,
  tell: (event: PlanEvent) => void,
  maxRequestsPerOperation?: number,
): Promise<Ask> {
  const batch = { method: 'p.Users.BatchUsers', keys: 'ids', items: 'users' }
  const grpc = cleanup.use(
    await createGrpcSource({
      name: 'users',
      protoText: { 'users.proto': PROTO },
      endpoint: urls.grpc,
      expose: 'all',
      methods: {
        'p.Users.GetUser': { schema: { name: 'user', type: 'QUERY' }, retries: 0 },
        'p.Users.ListUsers': { schema: { name: 'users', type: 'QUERY' }, retries: 0 },
        'p.Users.BatchUsers': { retries: 0 },
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
      baseUrl: urls.rest,
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
          name: 'ranked',
          path: '/ranked',
          on: { type: 'User', field: 'ranked', args: { ids: '{rank}' }, batch: { key: 'id' } },
        },
      ],
    }),
  )
  const yoga = createYoga({
    logging: false,
    maskedErrors: false,
    plugins: [useGrpcSource(grpc), useRestConnector(shop)] as Plugin[],
  })
  return async (query, variables) => {
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    return `${response.status} ${inOrder(await response.text())}`
  }
}

/** Errors of fields that are resolved at the same time come in any order. */
function inOrder(json: string): string {
  const { errors, ...result } = JSON.parse(json) as { errors?: object[]; data?: unknown }
  if (!errors) return json
  return JSON.stringify({ errors: errors.map((error) => JSON.stringify(error)).sort(), ...result })
}

const dataOf = (answer: string): string => answer.slice(answer.lastIndexOf('"data":'))

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const settle = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 20))

/** A join at two places, or below several calls, is asked for at once or not, as time has it. */
function isTimed(query: string): boolean {
  const joins: readonly string[] = query.match(/\b(owns|part|ranked|owner|team|needed|mates|peers)\b/g) ?? []
  return joins.includes('peers') || new Set(joins).size < joins.length
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
    userSet(0).map((set) => `needed { ${set} }`),
    thingSet(depth - 1).map((set) => `parts { ${set} }`),
  )
  return fc
    .tuple(own, fc.uniqueArray(joins, { maxLength: 2, selector: (text) => text.split(/\W/)[0] }))
    .map(([fields, joined]) => `${fields} ${joined.join(' ')}`)
}

const root = fc.oneof(
  userSet(3).map((set) => `user(id: "a") { ${set} }`),
  userSet(3).map((set) => `users(id: "a") { users { ${set} } }`),
  thingSet(3).map((set) => `things { ${set} }`),
  thingSet(3).map((set) => `thing { ${set} }`),
)
const document = fc.array(root, { minLength: 1, maxLength: 2 }).map((fields) => {
  const text = fields.map((field, index) => `f${index}: ${field}`).join(' ')
  const used = (name: string, definition: string): string => (text.includes(name) ? definition : '')
  const declared = [used('$limit', '$limit: Int'), used('$yes', '$yes: Boolean!')].filter(Boolean)
  return `query${declared.length > 0 ? `(${declared.join()})` : ''} { ${text} } ${used('...U', 'fragment U on User { id team }')}`
})

const key = fc.constantFrom('a', 'b', 'c')
const user = fc.record({
  id: key,
  name: fc.constantFrom('', 'a', '"quoted" Ł'),
  partId: fc.option(fc.constantFrom('a', 'b', ''), { nil: undefined }),
  team: fc.constantFrom('', 'a', 'b'),
  rank: fc.integer({ min: 0, max: 2 }),
})
const sound = fc.record({
  id: key,
  name: fc.constantFrom('a', 'b', ''),
  ownerId: fc.constantFrom('a', 'b', 'c', 'd'),
})
const thing = fc.oneof(
  { weight: 12, arbitrary: sound },
  {
    weight: 4,
    arbitrary: fc.tuple(sound, fc.array(sound, { maxLength: 2 })).map(([one, parts]) => ({ ...one, parts })),
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
const CALLS = ['GetUser', 'ListUsers', 'BatchUsers', 'things', 'thing', 'owned', 'parts', 'ranked']
const world: fc.Arbitrary<Data> = fc.record({
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
const variables = fc.record({ yes: fc.boolean(), limit: fc.constantFrom<unknown>(2, 2, null, 'x') })

describe('fields that one kind of source joins to objects of the other', () => {
  it('are planned with them, both ways and below each other', async () => {
    const events: string[] = []
    const ask = await serve(true, ({ outcome }) => void events.push(outcome))
    data = {
      users: [{ id: 'a', name: 'Ada', partId: 't' }],
      things: [{ id: 't', name: 'Lamp', ownerId: 'a' }],
      failing: new Set(),
      delays: {},
    }
    calls.length = 0
    expect(await ask('{ users(id: "a") { users { owns { name owner { name part { id } } } } } }', {})).toBe(
      '200 {"data":{"users":{"users":[{"owns":[{"name":"Lamp","owner":{"name":"Ada","part":{"id":"t"}}}]}]}}}',
    )
    expect(await ask('{ things { owner { name part { name } } } }', {})).toBe(
      '200 {"data":{"things":[{"owner":{"name":"Ada","part":{"name":"Lamp"}}}]}}',
    )
    expect(events.filter((event) => event !== 'unplanned')).toEqual(['planned', 'planned'])
    expect(calls).toEqual([
      'ListUsers a',
      'owned ids,a',
      'BatchUsers a',
      'parts ids,t',
      'things ',
      'BatchUsers a',
      'parts ids,t',
    ])
  })

  const sound: Data = {
    users: [
      { id: 'a', name: 'Ada', partId: 't', team: 'x' },
      { id: 'b', name: 'Bob', partId: 't', team: 'x' },
    ],
    things: [{ id: 't', name: 'x', ownerId: 'a' }],
    failing: new Set(),
    delays: {},
  }

  describe.each([
    [
      'gRPC, REST and below',
      '{ thing { name } user(id: "a") { part { name } owns { name team { name } } } }',
    ],
    ['REST, gRPC and below', '{ user(id: "b") { name } things { name owner { name part { name } } } }'],
  ])('%s', (_, query) => {
    it.each([
      ['GetUser', ['things', 'thing']],
      ['things', ['GetUser']],
      ['thing', ['GetUser']],
      ['BatchUsers', []],
      ['parts', []],
      ['parts', ['owned']],
      ['owned', ['parts']],
    ])('%s fails and %s come later: no call is made twice', async (failing, late) => {
      const events: string[] = []
      const ordinary = await serve(false, () => {})
      const planned = await serve(true, ({ outcome }) => void events.push(outcome))
      data = {
        ...sound,
        failing: new Set([failing]),
        delays: Object.fromEntries(late.map((name) => [name, 15])),
      }
      calls.length = 0
      const wanted = await ordinary(query, {})
      await settle()
      const wantedCalls = calls.splice(0).sort()
      expect(await planned(query, {})).toBe(wanted)
      await settle()
      expect(calls.splice(0).sort()).toEqual(wantedCalls)
      const isConcerned = wanted.includes('errors')
      expect(events.filter((event) => event !== 'unplanned')).toEqual(
        isConcerned ? ['planned', 'fell-back'] : ['planned'],
      )
    })
  })

  it('the calls of an operation are counted together, and those of the next one anew', async () => {
    data = sound
    for (const plans of [false, true]) {
      const ask = await serve(plans, () => {}, 2)
      for (let time = 0; time < 3; time++)
        expect(await ask('{ thing { name } user(id: "a") { owns { name } } }', {})).toMatch(/^200 {"data"/)
      expect(await ask('{ thing { name } user(id: "a") { owns { name } part { name } } }', {})).toContain(
        'more than the 2 calls',
      )
    }
  })

  it('what was read for one plan is not kept for the next', async () => {
    const ask = await serve(true, () => {})
    data = { ...sound, users: [{ id: 'a', name: 'x'.repeat(400_000) }] }
    /** Freed memory is given back a while after its collection. */
    const held = async (): Promise<number> => {
      const readings: number[] = []
      for (let time = 0; time < 8; time++) {
        collectGarbage()
        await settle()
        readings.push(process.memoryUsage().arrayBuffers)
      }
      return Math.min(...readings)
    }
    const askFrom = async (first: number, last: number): Promise<void> => {
      for (let round = first; round <= last; round++)
        expect((await ask(`{ things { owner { n${round}: name } } }`, {})).length).toBeGreaterThan(400_000)
    }
    await askFrom(1, 20)
    const before = await held()
    await askFrom(21, 60)
    expect((await held()) - before).toBeLessThan(8_000_000)
  })

  it('who asks for a key that is on its way waits for it', async () => {
    const users = ['x', 'y'].map((team) => ({ id: team, name: team, team }))
    data = {
      users,
      things: ['x', 'y'].map((ownerId) => ({ id: `of ${ownerId}`, name: 'z', ownerId })),
      failing: new Set(),
      delays: { 'BatchUsers y': 5, 'BatchUsers z': 30 },
    }
    const query = '{ users(id: "a") { users { peers { owns { name team { name } } } } } }'
    const events: string[] = []
    data = { ...data, users: [...users, { id: 'z', name: 'Zoe', team: 'z' }] }
    const planned = await serve(true, ({ outcome }) => void events.push(outcome))
    const answer = await planned(query, {})
    expect(answer).toBe(await (await serve(false, () => {}))(query, {}))
    expect(answer.split('Zoe')).toHaveLength(3)
    expect(events.filter((event) => event !== 'unplanned')).toEqual(['planned'])
  })

  it.each([
    ['owns', '{ a: user(id: "a") { owns { id } } b: user(id: "b") { owns { id } } }'],
    ['mates', '{ user(id: "a") { mates { id } } things { owner { mates { id } } } }'],
    ['owner', '{ a: things { owner { id } } user(id: "a") { owns { owner { id } } } }'],
  ])('%s at two places is not planned, as the places may share calls', async (name, query) => {
    const reasons: unknown[] = []
    const ask = await serve(true, ({ reason }) => void reasons.push(reason))
    data = sound
    expect(await ask(query, {})).toMatch(/^200 {"data"/)
    expect(reasons).toContain(`${name} is joined at two places`)
  })

  it(
    'are answered by plans as by ordinary execution, with the same calls',
    { timeout: 240_000 },
    async () => {
      const events: PlanEvent[] = []
      const ordinary = await serve(false, () => {})
      const planned = await serve(true, (event) => void events.push(event))
      await fc.assert(
        fc.asyncProperty(document, world, variables, async (query, given, values) => {
          data = given
          calls.length = 0
          const wanted = await ordinary(query, values)
          const wantedCalls = calls.splice(0).sort()
          // Where a value that may not be null is wrong, ordinary execution leaves out calls and keys that it has not come
          // to, and does not wait for those that it has, nor for what they fail with.
          const isCut = /non-null|\\"(id|team|mates|peers|needed)\\"\]/.test(wanted)
          if (isCut) await settle()
          calls.length = 0
          const got = await planned(query, values)
          if (isCut) await settle()
          const gotCalls = calls.splice(0).sort()
          expect(isCut ? dataOf(got) : got).toBe(isCut ? dataOf(wanted) : wanted)
          expect(gotCalls).toEqual(isCut || isTimed(query) ? gotCalls : wantedCalls)
        }),
        { numRuns: 600, seed: 20261121 },
      )
      const of = (outcome: PlanEvent['outcome']): number =>
        events.filter((event) => event.outcome === outcome).length
      expect(of('planned')).toBeGreaterThan(100)
      expect(of('fell-back')).toBeGreaterThan(50)
    },
  )
})
