import { AUDIENCE, connectRawWebSocket, startIssuer, startRestBackend, waitUntil } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { AccessConfig, AccessRule } from '../../../apps/gateway/src/access/access-types.ts'
import type { GatewayConfig } from '../../../apps/gateway/src/config/types.ts'
import { startGateway } from '../../../apps/gateway/test/support/gateway.ts'
import { waysIn, type Endpoints } from '../ways-in/ways.ts'

const SECRET = 'the value that nobody may see'
const GUARDED = ['Query.secret', 'Mutation.tell', 'Subscription.secrets'] as const

interface Rule {
  readonly name: string
  readonly rule: AccessRule
  /** The same in SDL. */
  readonly directives: string
  readonly policies?: AccessConfig['policies']
  /** Claims of who may, and of who may not. */
  readonly may: Readonly<Record<string, unknown>>
  readonly mayNot?: Readonly<Record<string, unknown>>
}

const RULES: readonly Rule[] = [
  { name: 'authenticated', rule: { authenticated: true }, directives: '@authenticated', may: {} },
  {
    name: 'a scope',
    rule: { scopes: ['read'] },
    directives: '@requiresScopes(scopes: [["read"]])',
    may: { scope: 'write read' },
    mayNot: { scope: 'write reading' },
  },
  {
    name: 'two scopes, or a third',
    rule: { scopes: [['read', 'write'], ['admin']] },
    directives: '@requiresScopes(scopes: [["read", "write"], ["admin"]])',
    may: { scp: ['admin'] },
    mayNot: { scp: ['read'] },
  },
  {
    name: 'a policy',
    rule: { policies: [['staff']] },
    directives: '@policy(policies: [["staff"]])',
    policies: { staff: { claim: 'org.roles', is: ['staff', 'owner'] } },
    may: { org: { roles: ['guest', 'owner'] } },
    mayNot: { org: { roles: ['guest'] } },
  },
  {
    name: 'a policy that is code, and a scope',
    rule: { policies: ['adult'], scopes: ['read'] },
    directives: '@policy(policies: [["adult"]]) @requiresScopes(scopes: [["read"]])',
    policies: { adult: (identity) => Number(identity?.claims['age']) >= 18 },
    may: { age: 18, scope: 'read' },
    mayNot: { age: 17, scope: 'read' },
  },
]

interface Kind {
  readonly name: string
  config(rule: Rule, restUrl: string, tell: () => string): GatewayConfig
}

const typeDefs = (root: string, directives = ''): string => /* GraphQL */ `
  type Query { ${root} }
  type Mutation { tell: String ${directives} }
  type Subscription { secrets: String ${directives} }
`

const resolversOf = (tell: () => string): GatewayConfig['resolvers'] => ({
  Mutation: { tell },
  Subscription: {
    secrets: {
      async *subscribe() {
        yield { secrets: tell() }
        await new Promise(() => {})
      },
    },
  },
})

const KINDS: readonly Kind[] = [
  {
    name: 'resolvers, rules in the config',
    config: ({ rule }, _, tell) => ({
      typeDefs: typeDefs('secret: String'),
      resolvers: { Query: { secret: tell }, ...resolversOf(tell) },
      access: { fields: Object.fromEntries(GUARDED.map((coordinate) => [coordinate, rule])) },
    }),
  },
  {
    name: 'resolvers, rules in SDL',
    config: ({ directives }, _, tell) => ({
      typeDefs: typeDefs(`secret: String ${directives}`, directives),
      resolvers: { Query: { secret: tell }, ...resolversOf(tell) },
    }),
  },
  {
    name: 'a plan',
    config: ({ rule }, baseUrl, tell) => ({
      typeDefs: typeDefs('own: String'),
      resolvers: resolversOf(tell),
      rest: { api: { baseUrl, endpoints: [{ name: 'secret', path: '/secret', returnType: 'String' }] } },
      access: { fields: Object.fromEntries(GUARDED.map((coordinate) => [coordinate, rule])) },
    }),
  },
]

async function start(kind: Kind, rule: Rule, refuse: AccessConfig['refuse'], responseCache: boolean) {
  const issuer = await startIssuer()
  const world = { resolved: 0 }
  const tell = (): string => {
    world.resolved++
    return SECRET
  }
  const rest = await startRestBackend(() => ({ json: tell() }))
  const { access, ...config } = kind.config(rule, rest.url, tell)
  onTestFinished(async () => {
    await issuer[Symbol.asyncDispose]()
    await rest.stop()
  })
  const { endpoint: http, gateway } = await startGateway({
    ...config,
    auth: { jwt: { issuers: [{ issuer: issuer.url, audience: AUDIENCE }] } },
    access: { ...access, refuse, policies: rule.policies },
    responseCache: responseCache && { varyHeaders: [] },
    graphql: { batching: 10 },
    liveQuery: { defaults: { enabled: true, throttleMs: 0 } },
  })
  const socket = http.replace('http', 'ws')
  const endpoints: Endpoints = { http, sockets: [socket, `${socket}/live`] }
  const bearer = (claims: object = {}): Record<string, string> => ({
    authorization: `Bearer ${issuer.token({ claims: { ...claims } })}`,
  })
  return { endpoints, world, bearer, gateway }
}

const WAYS = waysIn(2)
const expired = (): object => ({ exp: Math.floor(Date.now() / 1000) - 60 })

describe.each(KINDS)('$name', (kind) => {
  describe.each(RULES)('$name', (rule) => {
    it.each([
      ['field', true],
      ['field', false],
      ['operation', true],
    ] as const)('refuses a %s on every way in (cache: %s)', async (refuse, cache) => {
      const { endpoints, world, bearer } = await start(kind, rule, refuse, cache)
      const variesBy = [
        { who: 'nobody', headers: {}, code: 'UNAUTHENTICATED' },
        ...(rule.mayNot ? [{ who: 'may not', headers: bearer(rule.mayNot), code: 'FORBIDDEN' }] : []),
        { who: 'expired', headers: bearer({ ...rule.may, ...expired() }), code: 'UNAUTHENTICATED' },
        {
          who: 'of another audience',
          headers: bearer({ ...rule.may, aud: 'other' }),
          code: 'UNAUTHENTICATED',
        },
      ]
      // Twice, so that those who are refused meet what is kept for those who are not.
      for (const round of [1, 2]) {
        for (const way of WAYS) {
          const answer = await way.ask(endpoints, bearer(rule.may))
          expect([round, way.name, answer]).toEqual([round, way.name, expect.stringContaining(SECRET)])
        }
        for (const { who, headers, code } of variesBy) {
          const before = world.resolved
          for (const way of WAYS) {
            const answer = await way.ask(endpoints, headers).catch(String)
            expect([who, way.name, answer]).toEqual([who, way.name, expect.not.stringContaining(SECRET)])
            // A socket does not even open with a token that is not valid.
            expect([who, way.name, answer]).toEqual([
              who,
              way.name,
              expect.stringMatching(new RegExp(`${code}|4403`)),
            ])
          }
          expect([who, world.resolved - before]).toEqual([who, 0])
        }
      }
    })
  })
})

describe.each(KINDS)('$name, live', (kind) => {
  const rule = RULES[0] as Rule
  /** Enough for the first result on a machine that has much to do, with the five seconds that clocks may differ. */
  const soon = (): object => ({ exp: Math.floor(Date.now() / 1000) - 2 })

  it.each(['query @live { secret }', 'subscription { secrets }'])(
    'on a socket %s ends with UNAUTHENTICATED when the token expires',
    async (query) => {
      const { endpoints, bearer, gateway, world } = await start(kind, rule, 'field', true)
      await using socket = await connectRawWebSocket(endpoints.sockets[0] ?? '', { headers: bearer(soon()) })
      socket.sendJson({ type: 'connection_init' })
      expect(await socket.nextJson()).toMatchObject({ type: 'connection_ack' })
      socket.sendJson({ type: 'subscribe', id: '1', payload: { query } })
      expect(await socket.nextJson()).toMatchObject({ type: 'next' })
      expect(await socket.nextJson()).toMatchObject({
        type: 'error',
        payload: [{ extensions: { code: 'UNAUTHENTICATED' } }],
      })
      const { resolved } = world
      await gateway.bus.publish([{ entityType: 'Thing', operation: 'update' }])
      socket.sendJson({ type: 'ping' })
      expect(await socket.nextJson()).toMatchObject({ type: 'pong' })
      expect(world.resolved).toBe(resolved)
      // A newer token goes on where the old one ended.
      const extensions = bearer()
      socket.sendJson({ type: 'subscribe', id: '2', payload: { query, extensions } })
      expect(await socket.nextJson()).toMatchObject({ type: 'next', id: '2' })
    },
  )

  it.each(['query @live { secret }', 'subscription { secrets }'])(
    'as an event stream %s ends with UNAUTHENTICATED when the token expires',
    async (query) => {
      const { endpoints, bearer, world } = await start(kind, rule, 'field', true)
      const response = await fetch(endpoints.http, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...bearer(soon()) },
        body: JSON.stringify({ query }),
      })
      const text = await response.text()
      expect(text).toContain(SECRET)
      expect(text).toContain('UNAUTHENTICATED')
      expect(world.resolved).toBe(1)
    },
  )

  it('with other rights nobody is served by the run of another', async () => {
    const { endpoints, bearer, gateway } = await start(kind, RULES[1] as Rule, 'field', true)
    const open = async (claims: object) => {
      const socket = await connectRawWebSocket(endpoints.sockets[0] ?? '', { headers: bearer(claims) })
      onTestFinished(() => socket.terminate())
      socket.sendJson({ type: 'connection_init' })
      await socket.nextJson()
      socket.sendJson({ type: 'subscribe', id: '1', payload: { query: 'query @live { secret }' } })
      return socket
    }
    const may = await open({ scope: 'read' })
    const mayNot = await open({ scope: 'write' })
    for (let round = 0; round < 3; round++) {
      expect(await may.nextJson()).toMatchObject({ payload: { data: { secret: SECRET } } })
      expect(await mayNot.nextJson()).toMatchObject({
        payload: {
          data: { secret: null },
          errors: [{ path: ['secret'], extensions: { code: 'FORBIDDEN' } }],
        },
      })
      await waitUntil(() => true, { awaited: 'a turn' })
      await gateway.bus.publish([{ entityType: 'Thing', operation: 'update' }])
    }
  })
})
