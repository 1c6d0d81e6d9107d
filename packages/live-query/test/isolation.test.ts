import * as fc from 'fast-check'
import { createSchema } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { startLive, subscribe, type LiveSetup, type LiveSetupOptions } from './support.ts'

let setup: LiveSetup | undefined
const leaving: (() => unknown)[] = []
async function stop(): Promise<void> {
  for (const leave of leaving.splice(0)) await leave()
  await setup?.close()
  setup = undefined
}
afterEach(stop)

const NAMES = ['authorization', 'cookie', 'x-tenant', 'x-user']
type SentHeaders = Readonly<Record<string, string>>

interface Context {
  readonly request: { readonly headers: Headers }
}

/** Fields whose value is what they read of the request: `a` and `b` of the query, `joined` below either. */
function schemaReading(forward: Readonly<Record<string, readonly string[]>>): unknown {
  const read =
    (field: string) =>
    (_: unknown, __: unknown, { request }: Context): string =>
      JSON.stringify((forward[field] ?? []).map((name) => request.headers.get(name)))
  const schema = createSchema<Context>({
    typeDefs: `type Thing { id: ID! says: String joined: String }
               type Query { a: Thing b: Thing }`,
    resolvers: {
      Query: {
        a: (_, __, context) => ({ id: 1, says: read('a')(_, __, context) }),
        b: (_, __, context) => ({ id: 2, says: read('b')(_, __, context) }),
      },
      Thing: { joined: read('joined') },
    },
  })
  const query = schema.getQueryType()!.getFields()
  const thing = schema.getType('Thing') as unknown as { getFields(): typeof query }
  for (const [name, field] of [
    ['a', query['a']],
    ['b', query['b']],
    ['joined', thing.getFields()['joined']],
  ] as const) {
    field!.extensions = { variesBy: { headers: forward[name] } }
  }
  return schema
}

const QUERIES = [
  { text: 'query @live { a { says } }', reads: ['a'] },
  { text: 'query @live { b { id joined } }', reads: ['b', 'joined'] },
  { text: 'query @live { a { says joined } b { says } }', reads: ['a', 'b', 'joined'] },
] as const

interface Listener {
  next(): Promise<any>
}

async function overSocket(query: string, headers: SentHeaders): Promise<Listener> {
  const socket = await setup!.ready(undefined, headers)
  socket.sendJson(subscribe('1', query))
  return { next: async () => (await socket.nextJson()).payload.data }
}

async function overEvents(query: string, headers: SentHeaders): Promise<Listener> {
  const abort = new AbortController()
  leaving.push(() => abort.abort())
  const response = await fetch(setup!.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify({ query }),
    signal: abort.signal,
  })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    async next() {
      for (;;) {
        const event = /event: next\ndata:([^\n]*)\n\n/.exec(text)
        if (event) {
          text = text.slice(event.index + event[0].length)
          return JSON.parse(event[1]!).data
        }
        text += (await reader.read()).value ?? ''
      }
    },
  }
}

const someNames = fc.subarray(NAMES)
/** Two users who send the same, but for some of the headers. */
const twoUsers = fc.tuple(someNames, someNames, someNames).map(([sent, changed, left]): SentHeaders[] => {
  const one = Object.fromEntries(sent.map((name) => [name, 'one=1']))
  const two = { ...one, ...Object.fromEntries(changed.map((name) => [name, 'two=2'])) }
  return [
    one,
    Object.fromEntries(Object.entries(two).filter(([name]) => !left.includes(name) || name in one)),
  ]
})

const UNKNOWN: LiveSetupOptions['yoga'] = {
  get schema() {
    const schema = schemaReading({ a: [], b: [], joined: [] }) as ReturnType<typeof createSchema>
    schema.getQueryType()!.getFields()['a']!.extensions = {
      variesBy: { headers: ['x-tenant'], unknown: 'rest source "t": an interceptor' },
    }
    return schema as never
  },
}

describe('a group of one caller', () => {
  it('is joined by another only where nothing that can differ differs, over SSE and WebSocket', async () => {
    interface Scenario {
      readonly forward: Readonly<Record<'a' | 'b' | 'joined', readonly string[]>>
      readonly varyHeaders: readonly string[] | undefined
      readonly users: readonly SentHeaders[]
      readonly ways: readonly (typeof overSocket)[]
      readonly query: (typeof QUERIES)[number]
    }
    const scenario: fc.Arbitrary<Scenario> = fc.record({
      forward: fc.record({ a: someNames, b: someNames, joined: someNames }),
      varyHeaders: fc.option(someNames, { nil: undefined }),
      users: twoUsers,
      ways: fc.array(fc.constantFrom(overSocket, overEvents), { minLength: 2, maxLength: 2 }),
      query: fc.constantFrom(...QUERIES),
    })
    let shared = 0
    const check = async ({ forward, varyHeaders, users, ways, query }: Scenario) => {
      setup = await startLive({
        yoga: { schema: schemaReading(forward) as never },
        plugin: { fields: { a: {}, b: {} }, varyHeaders },
      })
      const listeners: Listener[] = []
      const expectOwn = async (): Promise<void> => {
        for (const [index, listener] of listeners.entries()) {
          const says = (field: keyof typeof forward): string =>
            JSON.stringify(forward[field].map((name) => users[index]?.[name] ?? null))
          const data = await listener.next()
          for (const [name, thing] of Object.entries<any>(data)) {
            expect(thing).toEqual({
              ...('id' in thing && { id: '2' }),
              ...('says' in thing && { says: says(name as 'a' | 'b') }),
              ...('joined' in thing && { joined: says('joined') }),
            })
          }
        }
      }
      for (const [index, headers] of users.entries()) listeners.push(await ways[index]!(query.text, headers))
      await expectOwn()
      await setup.bus.publish([{ entityType: 'Thing', operation: 'update' }])
      await setup.clock.advance(1000)
      await expectOwn()
      const counts = [
        ...(varyHeaders ?? ['authorization', 'cookie']),
        ...query.reads.flatMap((field) => forward[field]),
      ]
      const differ = counts.some((name) => users[0]?.[name] !== users[1]?.[name])
      expect(setup.plugin.store.stats().groups).toBe(differ ? 2 : 1)
      if (!differ) shared++
      await stop()
    }
    await fc.assert(fc.asyncProperty(scenario, check), { numRuns: 60, endOnFailure: true })
    expect(shared).toBeGreaterThan(3)
  })

  it('is refused where nobody can tell who asks, by a message that names the option', async () => {
    setup = await startLive({ yoga: UNKNOWN, plugin: { fields: { a: {}, b: {} } } })
    const socket = await setup.ready()
    socket.sendJson(subscribe('1', 'query @live { a { says } }'))
    const refused = await socket.nextJson()
    expect(refused).toMatchObject({
      type: 'error',
      payload: [
        {
          message: expect.stringContaining('"contextKey"'),
          extensions: { code: 'LIVE_QUERY_CALLER_UNKNOWN' },
        },
      ],
    })
    expect(JSON.stringify(refused)).not.toContain('interceptor')
    expect(String(setup.errors.splice(0))).toContain('rest source "t": an interceptor')
    socket.sendJson(subscribe('2', 'query @live { b { says } }'))
    expect(await socket.nextJson()).toMatchObject({ type: 'next' })
  })

  it('is told by contextKey, and by what sources read besides', async () => {
    const contextKey = ({ request }: any): string | null => request.headers.get('x-role')
    setup = await startLive({ yoga: UNKNOWN, plugin: { fields: { a: {}, b: {} }, contextKey } })
    const join = async (headers: SentHeaders): Promise<number> => {
      await (await overSocket('query @live { a { says } }', headers)).next()
      return setup!.plugin.store.stats().groups
    }
    expect(await join({ 'x-role': 'reader', authorization: 'ada' })).toBe(1)
    expect(await join({ 'x-role': 'reader', authorization: 'eve' })).toBe(1)
    expect(await join({ 'x-role': 'admin' })).toBe(2)
    expect(await join({ 'x-role': 'reader', 'x-tenant': 'other' })).toBe(3)
    expect(await join({})).toBe(4)
    expect(await join({})).toBe(5)
  })
})

describe('contextKey', () => {
  const roleOf = ({ request }: any): string => request.headers.get('x-role')

  it.each<readonly [string, (context: any) => unknown, number]>([
    ['a text', roleOf, 2],
    ['a number', (context) => roleOf(context).charCodeAt(0), 2],
    ['nothing', () => undefined, 1],
    ['a promise', async (context) => roleOf(context), 3],
    ['an object', (context) => new Map([['role', roleOf(context)]]), 3],
  ])('that is %s shares no execution between callers that differ', async (what, contextKey, groups) => {
    const fields = { a: {}, b: {} }
    setup = await startLive({ yoga: UNKNOWN, plugin: { fields, contextKey: contextKey as never } })
    for (const role of ['reader', 'admin', 'reader'])
      await (await overSocket('query @live { a { says } }', { 'x-role': role })).next()
    expect(setup.plugin.store.stats().groups).toBe(groups)
    const why = `live query: contextKey returned ${what}; expected a string or null. Subscribers with this value do not share one execution.`
    const told = setup.errors.splice(0) as Error[]
    expect(told.map(({ message }) => message)).toEqual(groups === 3 ? [why] : [])
  })
})

describe('a live query', () => {
  const typeDefs = `type User { id: ID! reviews: [Review!]! } type Review { id: ID! stars: Int }
                    type Totals { sum: Int } type Query { user: User summary: Int totals: Totals }`
  it.each([
    [
      'whose field has triggers of its own hears of what is joined',
      '{ user { id reviews { stars } } }',
      'Review',
    ],
    ['of a leaf hears of anything', '{ summary }', 'Order'],
    ['of an object that is no entity hears of anything', '{ totals { sum } }', 'Order'],
  ])('%s', async (_, query, entityType) => {
    let stars = 1
    const schema = createSchema({
      typeDefs,
      resolvers: {
        Query: {
          user: () => ({ id: 1, reviews: [{ id: 1, stars }] }),
          summary: () => stars,
          totals: () => ({ sum: stars }),
        },
      },
    })
    setup = await startLive({
      yoga: { schema: schema as never },
      plugin: { fields: { user: { triggers: ['User.update'] }, summary: {}, totals: {} } },
    })
    const listener = await overSocket(`query @live ${query}`, {})
    expect(JSON.stringify(await listener.next())).toContain('1')
    stars = 5
    await setup.bus.publish([{ entityType, operation: 'update', entityId: '1' }])
    await setup.clock.advance(1000)
    expect(JSON.stringify(await listener.next())).toContain('5')
  })

  it('with matchEntityId hears of entities that it counts without holding one', async () => {
    let count = 1
    const schema = createSchema({
      typeDefs: `type User { id: ID! } type Users { totalCount: Int users: [User!]! } type Query { users: Users user: User }`,
      resolvers: { Query: { users: () => ({ totalCount: count }), user: () => ({ id: 1 }) } },
    })
    setup = await startLive({
      yoga: { schema: schema as never },
      plugin: { matchEntityId: true, fields: { users: {}, user: {} } },
    })
    const listener = await overSocket('query @live { users { totalCount } user { id } }', {})
    await listener.next()
    count = 0
    await setup.bus.publish([{ entityType: 'User', operation: 'delete', entityId: '7' }])
    await setup.clock.advance(1000)
    expect(await listener.next()).toEqual({ users: { totalCount: 0 }, user: { id: '1' } })
  })
})

describe('who joins after a change was announced', () => {
  it.each([
    ['a polled query', { strategy: 'POLLING' as const }, {}],
    ['one that is compared', { strategy: 'HASH_DIFF' as const }, {}],
    ['one with triggers of its own', { triggers: ['User.create'] }, {}],
    ['one that events reach by the ids it holds', {}, { matchEntityId: true }],
  ])('gets nothing from before it: %s', async (_, options, plugin) => {
    let name = 'old'
    const schema = createSchema({
      typeDefs: 'type User { id: ID! name: String } type Query { users: [User!]! }',
      resolvers: { Query: { users: () => [{ id: 1, name }] } },
    })
    setup = await startLive({
      yoga: { schema: schema as never },
      plugin: { fields: { users: options }, ...plugin },
    })
    const query = 'query @live { users { id name } }'
    await (await overSocket(query, {})).next()
    name = 'new'
    await setup.bus.publish([{ entityType: 'User', operation: 'update', entityId: '7' }])
    expect(await (await overSocket(query, {})).next()).toEqual({ users: [{ id: '1', name: 'new' }] })
    expect(setup.plugin.store.stats().groups).toBe(1)
  })
})
