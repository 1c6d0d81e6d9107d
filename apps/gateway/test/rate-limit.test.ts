import { AUDIENCE, describeWithRedis, connectRawWebSocket, startIssuer, startRedis } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { buildSchema, GraphQLError, parse } from 'graphql'
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RateLimitRule } from '../src/rate-limit/rate-limit-types.ts'
import { parseConfig } from '../src/config/file/parse-config.ts'
import type { GatewayConfig } from '../src/config/types.ts'
import { networkOf } from '../src/rate-limit/client-address.ts'
import { countFields } from '../src/rate-limit/count-fields.ts'
import {
  createMemoryCounters,
  createRedisCounters,
  type CountedRule,
  type Counters,
} from '../src/rate-limit/counters.ts'
import { createRateLimit } from '../src/rate-limit/rate-limit.ts'
import { Windows } from '../src/rate-limit/windows.ts'
import { createOutage } from '../src/logging/outage.ts'
import { post, startGateway } from './support/gateway.ts'

const SCHEMA: Pick<GatewayConfig, 'typeDefs' | 'resolvers' | 'dependencies'> = {
  typeDefs: 'type Query { hello: Int, other: Int } type Mutation { login: Int }',
  resolvers: { Query: { hello: () => 1, other: () => 2 }, Mutation: { login: () => 3 } },
  dependencies: { 'Query.hello': { variesBy: [] }, 'Query.other': { variesBy: [] } },
}

async function start(rules: readonly RateLimitRule[], config: GatewayConfig = {}) {
  const { endpoint, gateway } = await startGateway({
    ...SCHEMA,
    ...config,
    rateLimit: { rules },
  })
  const ask = async (query: string, headers: Record<string, string> = {}, more: object = {}) => {
    const response = await post(endpoint, { query, ...more }, headers)
    const { errors } = (await response.json()) as any
    return errors?.[0].extensions.code ?? response.status
  }
  return { endpoint, gateway, ask }
}

const many = async <T>(times: number, task: () => Promise<T>): Promise<T[]> => {
  const results: T[] = []
  for (let time = 0; time < times; time++) results.push(await task())
  return results
}
const LIMITED = 'RATE_LIMITED'
const BY_KEY: RateLimitRule = { by: { header: 'x-key' }, max: 1, windowSeconds: 1 }
const BY_ADDRESS: RateLimitRule = { max: 9, windowSeconds: 1 }

describe('rateLimit', () => {
  it('counts, and refuses, before a plugin of the config sees the parameters, whatever that makes of them', async () => {
    let seen = 0
    const guard = {
      readsHeaders: ['x-key'],
      onParams({ request }: { readonly request: Request }) {
        seen++
        if (request.headers.get('x-key') !== 'right')
          throw new GraphQLError('wrong', { extensions: { code: 'WRONG_KEY' } })
      },
    }
    const { ask } = await start([{ max: 4, windowSeconds: 60 }], { plugins: [guard as never] })
    // The first makes the query known.
    expect(await ask('{ hello }', { 'x-key': 'right' })).toBe(200)
    const codes = await many(6, () => ask('{ hello }', { 'x-key': 'guessed' }))
    expect(codes).toEqual(['WRONG_KEY', 'WRONG_KEY', 'WRONG_KEY', LIMITED, LIMITED, LIMITED])
    expect(seen).toBe(4)
  })

  it.each([
    ['known queries', ['{ hello }', '{ hello }', '{ hello }', '{ hello }']],
    ['new ones', ['{ hello }', '{ a: hello }', '{ b: hello }', '{ c: hello }']],
    ['some of each', ['{ hello }', '{ hello }', '{ d: hello }', '{ hello }']],
  ])('counts each request once beside a plugin of the config: %s', async (_what, queries) => {
    const plugin = { readsHeaders: [], onParams() {} }
    const { ask } = await start([{ max: 3, windowSeconds: 60 }], { plugins: [plugin as never] })
    const codes = []
    for (const query of queries) codes.push(await ask(query))
    expect(codes).toEqual([200, 200, 200, LIMITED])
  })

  it('answers who asks too often with 429, a code and when to come again', async () => {
    const { endpoint } = await start([{ max: 1, windowSeconds: 60 }])
    await (await post(endpoint, { query: '{ hello }' })).text()
    const response = await post(endpoint, { query: '{ hello }' })
    expect(response.status).toBe(429)
    const seconds = Number(response.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(60)
    expect(await response.json()).toMatchObject({
      errors: [{ extensions: { code: LIMITED, retryAfterSeconds: seconds } }],
    })
  })

  it('counts each operation of a batch, GET, bodies of forms, and operations of sockets', async () => {
    const { endpoint } = await start([{ max: 4, windowSeconds: 60 }], { graphql: { batching: 5 } })
    const query = '{ hello }'
    expect(await (await post(endpoint, [{ query }, { query }])).json()).toHaveLength(2)
    await (await fetch(`${endpoint}?query={hello}`)).text()
    await using socket = await connectRawWebSocket(endpoint.replace('http', 'ws'))
    socket.sendJson({ type: 'connection_init' })
    await socket.nextJson()
    const types: string[] = []
    for (const id of ['a', 'b']) {
      socket.sendJson({ type: 'subscribe', id, payload: { query } })
      let answer = await socket.nextJson()
      while (answer.id !== id) answer = await socket.nextJson()
      types.push(answer.type === 'error' ? answer.payload[0].extensions.code : answer.type)
    }
    expect(types).toEqual(['next', LIMITED])
    expect((await post(endpoint, { query })).status).toBe(429)
  })

  it('counts hits where requests are counted, and only what is executed where that is', async () => {
    const query = '{ hello }'
    const requests = await start([{ max: 2, windowSeconds: 60 }], { responseCache: true })
    expect(await many(3, () => requests.ask(query))).toEqual([200, 200, LIMITED])
    const executions = await start([{ max: 2, windowSeconds: 60, counts: 'executions' }], {
      responseCache: true,
    })
    expect(await many(5, () => executions.ask(query))).toEqual([200, 200, 200, 200, 200])
    expect(await executions.ask('{ other }')).toBe(200)
    expect(await executions.ask('{ hello other }')).toBe(LIMITED)
    expect(await executions.ask(query)).toBe(200)
  })

  it('counts fields as often as an operation has them, and operations by name', async () => {
    const fields = await start([{ max: 3, windowSeconds: 60, fields: ['Mutation.login'] }])
    expect(await fields.ask('mutation { a: login b: login }')).toBe(200)
    expect(await fields.ask('{ hello }')).toBe(200)
    expect(await fields.ask('mutation { ...F } fragment F on Mutation { login other: login }')).toBe(LIMITED)
    const named = await start([{ max: 1, windowSeconds: 60, operations: ['Report'] }])
    expect(await many(2, () => named.ask('query Other { hello }'))).toEqual([200, 200])
    expect(await many(2, () => named.ask('query Report { hello }'))).toEqual([200, LIMITED])
    // What a client calls an operation beside the document is not its name.
    const both = 'query Other { hello } query Report { hello }'
    expect(await named.ask(both, {}, { operationName: 'Report' })).toBe(LIMITED)
  })

  it('all rules hold, each by itself', async () => {
    const { ask } = await start([
      { max: 1, windowSeconds: 60, operations: ['Report'] },
      { max: 3, windowSeconds: 60 },
    ])
    expect(await ask('query Report { hello }')).toBe(200)
    expect(await ask('query Report { hello }')).toBe(LIMITED)
    expect(await ask('{ hello }')).toBe(200)
    expect(await ask('{ hello }')).toBe(LIMITED)
  })

  it('counts by header, and those without it by address', async () => {
    const { ask } = await start([{ by: { header: 'x-api-key' }, max: 1, windowSeconds: 60 }, BY_ADDRESS])
    const keys: Record<string, string>[] = [{ 'x-api-key': 'a' }, { 'x-api-key': 'b' }, {}]
    for (const key of keys) expect(await many(2, () => ask('{ hello }', key))).toEqual([200, LIMITED])
  })

  it('counts by claim, whichever token says it, and those without a token by address', async () => {
    const issuer = await startIssuer()
    onTestFinished(() => issuer[Symbol.asyncDispose]())
    const { ask } = await start([{ by: { claim: 'sub' }, max: 2, windowSeconds: 60 }], {
      auth: { jwt: { issuers: [{ issuer: issuer.url, audience: AUDIENCE }] } },
    })
    const of = (sub: string, jti: string) => ({
      authorization: `Bearer ${issuer.token({ claims: { sub, jti } })}`,
    })
    expect(await ask('{ hello }', of('ann', '1'))).toBe(200)
    expect(await ask('{ hello }', of('ann', '2'))).toBe(200)
    expect(await ask('{ hello }', of('ann', '3'))).toBe(LIMITED)
    expect(await ask('{ hello }', of('bob', '4'))).toBe(200)
    expect(await many(3, () => ask('{ hello }'))).toEqual([200, 200, LIMITED])
  })

  it('a subject is one of its issuer: those of others with the same name are counted for themselves', async () => {
    const [first, second] = [await startIssuer(), await startIssuer()]
    onTestFinished(() => first[Symbol.asyncDispose]())
    onTestFinished(() => second[Symbol.asyncDispose]())
    const issuers = [first, second].map(({ url }) => ({ issuer: url, audience: AUDIENCE }))
    const { ask } = await start([{ by: { claim: 'sub' }, max: 1, windowSeconds: 60 }], {
      auth: { jwt: { issuers } },
    })
    const of = (issuer: typeof first) => ({
      authorization: `Bearer ${issuer.token({ claims: { sub: 'ann' } })}`,
    })
    for (const issuer of [first, second])
      expect(await many(2, () => ask('{ hello }', of(issuer)))).toEqual([200, LIMITED])
  })

  it('an address is that of the connection, and of a client only where a trusted proxy says it', async () => {
    const rules: RateLimitRule[] = [{ max: 1, windowSeconds: 60 }]
    const from = (address: string) => ({ 'x-forwarded-for': address })
    const forged = await start(rules)
    expect(await forged.ask('{ hello }', from('1.1.1.1'))).toBe(200)
    expect(await forged.ask('{ hello }', from('2.2.2.2'))).toBe(LIMITED)
    const { endpoint } = await startGateway(
      { ...SCHEMA, rateLimit: { rules }, server: { trustProxy: ['loopback'] } },
      { trustProxy: ['loopback'] },
    )
    const ask = async (address: string) =>
      (await post(endpoint, { query: '{ hello }' }, from(address))).status
    expect([await ask('1.1.1.1'), await ask('2.2.2.2'), await ask('1.1.1.1')]).toEqual([200, 200, 429])
  })

  it('runs of a live query after the first are free', async () => {
    const { endpoint, gateway } = await start(
      [
        { max: 1, windowSeconds: 60 },
        { max: 1, windowSeconds: 60, counts: 'executions' },
      ],
      {
        liveQuery: { defaults: { enabled: true } },
        resolvers: { Query: { hello: () => Math.random() } },
        dependencies: { 'Query.hello': { dependsOn: ['Thing'] } },
        typeDefs: 'type Query { hello: Float } type Thing { id: ID }',
      },
    )
    await using socket = await connectRawWebSocket(endpoint.replace('http', 'ws'))
    socket.sendJson({ type: 'connection_init' })
    await socket.nextJson()
    socket.sendJson({ type: 'subscribe', id: 'a', payload: { query: 'query @live { hello }' } })
    expect((await socket.nextJson()).type).toBe('next')
    for (let run = 0; run < 3; run++) {
      await gateway.bus.publish([{ entityType: 'Thing', operation: 'update' }])
      expect((await socket.nextJson()).type).toBe('next')
    }
  })

  it.each([
    [[{ max: 1 }], /rateLimit\.rules\[0\]\.windowSeconds: expected number/],
    [[], /rateLimit\.rules: /],
    [
      [{ max: 1, windowSeconds: 1, fields: ['Query.a'], counts: 'requests' }],
      /rateLimit\.rules\[0\]\.counts: a rule with operations or fields counts executions/,
    ],
    [[{ max: 1, windowSeconds: 1, by: { cookie: 'a' } }], /rateLimit\.rules\[0\]\.by/],
  ])('refuses the rules %j', (rules, message) => {
    expect(() => parseConfig({ rateLimit: { rules } })).toThrow(message)
  })

  it.each<readonly RateLimitRule[]>([
    [BY_KEY],
    [
      { ...BY_KEY, fields: ['Query.hello'] },
      { ...BY_ADDRESS, fields: ['Mutation.login'] },
    ],
    [BY_KEY, { ...BY_ADDRESS, fields: ['Mutation.login'] }],
    [BY_KEY, { ...BY_ADDRESS, counts: 'executions' }],
    [BY_KEY, { by: { claim: 'sub' }, max: 1, windowSeconds: 1 }],
  ])('refuses %j, %j: who changes the header is not limited', async (...rules) => {
    await expect(start(rules)).rejects.toThrow(
      /^rateLimit\.rules\[0\]\.by: a client can change this header .*; add a rule by address/,
    )
  })

  it.each<readonly RateLimitRule[]>([
    [BY_KEY, BY_ADDRESS],
    [{ ...BY_KEY, counts: 'executions' }, BY_ADDRESS],
    [
      { ...BY_KEY, fields: ['Mutation.login'] },
      { ...BY_ADDRESS, fields: ['Mutation.login', 'Query.hello'] },
    ],
    [{ ...BY_KEY, by: { header: 'x-key', trusted: true } }],
  ])('takes %j, %j', async (...rules) => {
    await expect(start(rules)).resolves.toBeDefined()
  })

  it('limits who changes the header each time', async () => {
    const { ask } = await start([BY_KEY, { ...BY_ADDRESS, max: 3, windowSeconds: 60 }])
    let key = 0
    const answers = await many(5, () => ask('{ hello }', { 'x-key': String(key++) }))
    expect(answers).toEqual([200, 200, 200, LIMITED, LIMITED])
  })

  it('refuses a rule on a field that is not there', async () => {
    const rules = [{ max: 1, windowSeconds: 1, fields: ['Query.gone'] }]
    await expect(start(rules)).rejects.toThrow('rateLimit.rules[0].fields[0]: the schema has no Query.gone')
  })
})

describe('windows', () => {
  it('of a login are not forgotten for 101,000 other clients', async () => {
    const login = createMemoryCounters({ name: '0', max: 5, windowMs: 60_000 })
    for (let attempt = 0; attempt < 6; attempt++) await login.add('victim', 1)
    for (let other = 0; other < 101_000; other++) await login.add(`stranger ${other}`, 1)
    expect(await login.add('victim', 1)).toMatchObject({ count: 7 })
  })

  it('leave by what is left to them: ended ones first, then those with most left, then the oldest', () => {
    const windows = new Windows({ max: 8, windowMs: 100, maxKeys: 3 })
    const counts = (key: string, now: number): number => windows.add(key, 1, now).count
    windows.add('full', 8, 0)
    windows.add('half', 4, 50)
    windows.add('new', 1, 60)
    counts('newer', 70)
    expect(windows.size).toBe(3)
    expect(counts('new', 71)).toBe(1)
    expect([counts('full', 72), counts('half', 73)]).toEqual([9, 5])
    // The window of the full one has ended.
    counts('newest', 101)
    expect(counts('half', 102)).toBe(6)
    expect(counts('full', 103)).toBe(1)
  })

  it('are of so many clients at most, whatever is counted', () => {
    const sequence = fc.array(fc.record({ key: fc.nat(20), by: fc.nat(9), pass: fc.nat(60) }), {
      maxLength: 200,
    })
    fc.assert(
      fc.property(sequence, fc.integer({ min: 1, max: 12 }), (steps, max) => {
        const windows = new Windows({ max, windowMs: 100, maxKeys: 7 })
        let now = 0
        for (const { key, by, pass } of steps) {
          now += pass
          expect(windows.add(`${key}`, by, now).count).toBeGreaterThanOrEqual(by)
          expect(windows.size).toBeLessThanOrEqual(7)
        }
      }),
    )
  })

  it('begin with the first count and end by themselves', () => {
    let now = 0
    const counters = createMemoryCounters({ name: '0', max: 10, windowMs: 1000 }, () => now)
    const add = (by = 1) => counters.add('a', by)
    expect(add()).toEqual({ count: 1, endsInMs: 1000 })
    now = 600
    expect(add(2)).toEqual({ count: 3, endsInMs: 400 })
    now = 1000
    expect(add()).toEqual({ count: 1, endsInMs: 1000 })
  })
})

it.each([
  ['203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:0db8:1:2::', '2001:db8:1:2'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('of the address %s counted is %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

describe('fields of an operation', () => {
  const schema = buildSchema(`
    interface Node { id: ID }
    type User implements Node { id: ID, friends: [User] }
    type Query { user: User, node: Node }`)

  it.each([
    ['{ user { id } }', 'User.id', 1],
    ['{ a: user { id } b: user { x: id y: id } }', 'User.id', 3],
    ['{ node { id } }', 'User.id', 1],
    ['{ user { id } }', 'Node.id', 1],
    ['{ node { ... on User { id } } }', 'User.id', 1],
    ['{ ...F ...F } fragment F on Query { user { id friends { id } } }', 'User.id', 4],
    ['{ user { ...F } } fragment F on User { id friends { ...F } }', 'User.id', 1],
    ['{ user { id @skip(if: true) } }', 'User.id', 1],
    ['{ node { id } }', 'Query.user', 0],
  ])('%s has %s %i times', (query, coordinate, times) => {
    expect(countFields(schema, parse(query), undefined, new Set([coordinate]))).toBe(times)
  })

  it('fragments that double in each other end at once', () => {
    const fragments = Array.from(
      { length: 60 },
      (_, index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`,
    )
    const query = `{ ...F0 } ${fragments.join(' ')} fragment F60 on Query { user { id } }`
    expect(countFields(schema, parse(query), undefined, new Set(['User.id']))).toBe(1_000_000)
  })
})

it('each rule has counts of its own', async () => {
  const added: string[] = []
  const counters = ({ name }: CountedRule): Counters => ({
    add: (client) => {
      added.push(`${name} ${client}`)
      return { count: 1, endsInMs: 1 }
    },
  })
  const rules = [
    { max: 1, windowSeconds: 60 },
    { max: 1, windowSeconds: 60, by: { header: 'x-key' } },
  ]
  const { requests } = createRateLimit({ rules, counters, address: { note() {}, of: () => 'a' } })
  const request = new Request('http://g', { headers: { 'x-key': 'k' } })
  await requests.onParams?.({ request, context: {} } as never)
  expect(added).toEqual([expect.stringMatching(/ address:a$/), expect.stringMatching(/ header:/)])
  expect(new Set(added.map((key) => key.split(' ')[0])).size).toBe(2)
})

describe('a Redis that is away', () => {
  it('is said once, with what failed meanwhile, and once more when it is over', async () => {
    let now = 0
    let isAway = true
    const said: unknown[][] = []
    const logger = {
      warn: (...line: unknown[]) => void said.push(line),
      info: (...line: unknown[]) => void said.push(line),
    }
    const counters = createRedisCounters(
      { name: '0', max: 1, windowMs: 1000 },
      {
        redis: { eval: async () => (isAway ? Promise.reject(new Error('gone')) : [1, 1000]) } as never,
        near: createMemoryCounters({ name: '0', max: 1, windowMs: 1000 }),
        outage: createOutage(logger as never, { down: 'Redis is down', up: 'Redis is up' }, {}, () => now),
      },
    )
    for (let count = 0; count < 442; count++) await counters.add('a', 1)
    expect(said).toEqual([[{ cause: 'gone', since: expect.stringMatching(/^\d{4}-.*Z$/) }, 'Redis is down']])
    now = 5_000
    await counters.add('a', 1)
    isAway = false
    await counters.add('a', 1)
    expect(said).toHaveLength(1)
    now = 6_000
    await counters.add('a', 1)
    await counters.add('a', 1)
    expect(said.slice(1)).toEqual([
      [{ failures: 443, forMs: 5_000, since: expect.any(String) }, 'Redis is up'],
    ])
  })
})

describeWithRedis('rateLimit with Redis', () => {
  it('keeps so many clients of a rule there; further ones are counted here', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    const client = new Redis(redis.url)
    onTestFinished(() => client.disconnect())
    const rule = { name: '0:60', max: 5, windowMs: 60_000 }
    const near = createMemoryCounters(rule)
    const outage = { failed: (error: unknown) => expect(error).toBeUndefined(), worked() {} }
    const counters = createRedisCounters(rule, { redis: client, near, outage, maxClients: 160 })
    expect(await counters.add('victim', 5)).toMatchObject({ count: 5 })
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => counters.add(`stranger ${index}`, 1)))
    // And what counts the clients of each place.
    expect(await client.dbsize()).toBeLessThanOrEqual(160 + 16)
    expect(await counters.add('victim', 1)).toMatchObject({ count: 6 })
    expect(await counters.add('stranger 999', 1)).toMatchObject({ count: 2 })
  })

  it.each([
    ['a string', (client: Redis, key: string) => client.set(key, 'garbage')],
    [
      'a number that cannot be increased',
      (client: Redis, key: string) => client.set(key, `${2n ** 63n - 1n}`),
    ],
    ['a list', (client: Redis, key: string) => client.rpush(key, 'x')],
    ['a count that never ends', (client: Redis, key: string) => client.set(key, '9')],
    ['a negative count', (client: Redis, key: string) => client.set(key, '-9', 'EX', 10)],
    ['a count that ends in a year', (client: Redis, key: string) => client.set(key, '9', 'EX', 31_536_000)],
  ])('replaces a counter that is %s', async (_, corrupt) => {
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    const client = new Redis(redis.url)
    onTestFinished(() => client.disconnect())
    const rule = { name: '0:60', max: 5, windowMs: 60_000 }
    const outage = { failed: (error: unknown) => expect(error).toBeUndefined(), worked() {} }
    const near = createMemoryCounters(rule)
    const counters = createRedisCounters(rule, { redis: client, near, outage })
    expect(await counters.add('a', 1)).toMatchObject({ count: 1 })
    const keys = await client.keys('*')
    expect(keys).toHaveLength(2)
    for (const key of keys) {
      await client.del(key)
      await corrupt(client, key)
    }
    expect(await counters.add('a', 1)).toMatchObject({ count: 1 })
    const second = await counters.add('a', 1)
    expect(second.count).toBe(2)
    expect(second.endsInMs).toBeLessThanOrEqual(60_000)
  })

  it.each<[string, RateLimitRule, RateLimitRule]>([
    ['limits', { max: 2, windowSeconds: 60 }, { max: 3, windowSeconds: 60 }],
    [
      'clients',
      { max: 2, windowSeconds: 60 },
      { max: 2, windowSeconds: 60, by: { header: 'x-key', trusted: true } },
    ],
    ['windows', { max: 2, windowSeconds: 60 }, { max: 2, windowSeconds: 61 }],
    [
      'fields',
      { max: 2, windowSeconds: 60, fields: ['Query.hello'] },
      { max: 2, windowSeconds: 60, fields: ['Query.hello', 'Query.other'] },
    ],
    [
      'operations',
      { max: 2, windowSeconds: 60, operations: ['A'] },
      { max: 2, windowSeconds: 60, operations: ['A', 'B'] },
    ],
    ['counts', { max: 2, windowSeconds: 60 }, { max: 2, windowSeconds: 60, counts: 'executions' }],
  ])('are not shared by gateways whose rules have other %s', async (_, rule, other) => {
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    const [one, two] = [
      await start([rule], { redisUrl: redis.url }),
      await start([other], { redisUrl: redis.url }),
    ]
    expect(await many(3, () => one.ask('query A { hello }'))).toEqual([200, 200, LIMITED])
    expect(await many(2, () => two.ask('query A { hello }'))).toEqual([200, 200])
  })

  it('are shared by equal rules, wherever they stand and however they are written', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    const rule = { max: 2, windowSeconds: 60, fields: ['Query.hello', 'Query.other'] }
    const one = await start([rule], { redisUrl: redis.url })
    const two = await start(
      [
        { max: 99, windowSeconds: 60 },
        { ...rule, fields: ['Query.other', 'Query.hello'], by: 'address', counts: 'executions' },
      ],
      { redisUrl: redis.url },
    )
    expect([await one.ask('{ hello }'), await two.ask('{ hello }'), await one.ask('{ hello }')]).toEqual([
      200,
      200,
      LIMITED,
    ])
    const twice = await start([rule, rule], { redisUrl: redis.url })
    expect(await twice.ask('{ hello }')).toBe(LIMITED)
    const fresh = { max: 2, windowSeconds: 50 }
    const both = await start([fresh, fresh], { redisUrl: redis.url })
    expect(await many(3, () => both.ask('{ hello }'))).toEqual([200, 200, LIMITED])
  })

  it('counts over all gateways at once, and each goes on by itself without it', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    const rules = [{ max: 10, windowSeconds: 60 }]
    const gateways = await many(2, () => start(rules, { redisUrl: redis.url }))
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) => gateways[index % 2]?.ask('{ hello }')),
    )
    expect(answers.filter((answer) => answer === 200)).toHaveLength(10)
    redis.stop()
    expect(await gateways[0]?.ask('{ hello }')).toBe(200)
  })
})
