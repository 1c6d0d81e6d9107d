import { useDepthLimit } from '@envelop/depth-limit'
import { useDisableIntrospection as useEnvelopIntrospection } from '@envelop/disable-introspection'
import { useExtendedValidation } from '@envelop/extended-validation'
import { useFilterAllowedOperations } from '@envelop/filter-operation-type'
import { useGenericAuth } from '@envelop/generic-auth'
import { useGraphQLMiddleware } from '@envelop/graphql-middleware'
import { useOperationFieldPermissions } from '@envelop/operation-field-permissions'
import { useRateLimiter } from '@envelop/rate-limiter'
import { EnvelopArmor } from '@escape.tech/graphql-armor'
import { characterLimitPlugin } from '@escape.tech/graphql-armor-character-limit'
import { useCSRFPrevention } from '@graphql-yoga/plugin-csrf-prevention'
import { useDisableIntrospection } from '@graphql-yoga/plugin-disable-introspection'
import { createInlineSigningKeyProvider, useJWT } from '@graphql-yoga/plugin-jwt'
import { GraphQLError, OperationTypeNode, type ValidationContext } from 'graphql'
import { rule, shield } from 'graphql-shield'
import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import type { Row, World } from './world.ts'

const ADA = '{ user(id: "1") { id name } }'
const ada = { user: { id: '1', name: 'Ada' } }
const TYPES = '{ __schema { queryType { name } } }'
const types = { __schema: { queryType: { name: 'Query' } } }

/** Three times, as the first is prepared, the second is known, and the third is known by its bytes. */
const TIMES = [0, 1, 2] as const

async function answersAda({ ask, isCached }: World, headers: Readonly<Record<string, string>> = {}) {
  for (const time of TIMES) {
    const { data, errors, cache } = await ask(ADA, { headers })
    expect({ time, data, errors, cache }).toEqual({
      time,
      data: ada,
      errors: [],
      cache: isCached ? (time === 0 ? 'MISS' : 'HIT') : null,
    })
  }
}

async function refuses(
  { ask }: World,
  query: string,
  message: RegExp,
  init: Parameters<World['ask']>[1] = {},
) {
  for (const time of TIMES) {
    const { data, errors } = await ask(query, init)
    expect({ time, data, message: errors[0] }).toEqual({
      time,
      data: data ? expect.not.objectContaining(ada) : data,
      message: expect.stringMatching(message),
    })
  }
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
function token(sub: string): string {
  const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub, exp: Date.now() / 1000 + 600 })}`
  return `Bearer ${signed}.${createHmac('sha256', 'key').update(signed).digest('base64url')}`
}

/** Whoever asks as `context.who`, by a header. */
const useWho = () => ({
  readsHeaders: ['x-user'],
  onContextBuilding({ context, extendContext }: any) {
    extendContext({ who: context.request.headers.get('x-user') ?? undefined })
  },
})

const users = { alice: { 'x-user': 'alice' }, bob: { 'x-user': 'bob' } }

export const REFUSING: readonly Row[] = [
  {
    name: '@escape.tech/graphql-armor',
    promise:
      'what is too deep, too long or has too many aliases is refused each time, and no field is suggested',
    plugins: () =>
      new EnvelopArmor({ maxAliases: { n: 2 }, maxDepth: { n: 4 }, maxTokens: { n: 60 } }).protect().plugins,
    async holds(world) {
      await answersAda(world)
      await refuses(world, '{ a: me b: me c: me }', /alias/i)
      await refuses(world, '{ user(id: "1") { friend { friend { friend { friend { id } } } } } }', /depth/i)
      await refuses(world, `{ ${'me '.repeat(80)} }`, /token/i)
      for (const time of TIMES) {
        const { errors } = await world.ask('{ user(id: "1") { nam } }')
        expect([time, errors[0]]).toEqual([time, expect.not.stringContaining('"name"')])
      }
    },
  },
  {
    name: '@escape.tech/graphql-armor-character-limit',
    promise: 'a long text is refused each time, whatever is known of it without its literals',
    plugins: () => [characterLimitPlugin({ maxLength: 60 })],
    async holds(world) {
      await answersAda(world)
      await refuses(world, `{ user(id: "${'1'.repeat(60)}") { id name } }`, /limit/i)
    },
  },
  {
    name: '@envelop/depth-limit',
    promise: 'a document that is too deep is refused each time',
    plugins: () => [useDepthLimit({ maxDepth: 2 })],
    async holds(world) {
      await answersAda(world)
      await refuses(world, '{ user(id: "1") { friend { friend { id } } } }', /depth/i)
    },
  },
  {
    name: '@envelop/extended-validation',
    promise: 'a rule that looks at variables refuses one request and lets another one in',
    plugins: () => [
      useExtendedValidation({
        rules: [
          (context: ValidationContext, { variableValues }: any) => ({
            Argument({ value }: any) {
              if (value.kind === 'Variable' && variableValues?.[value.name.value] === '2')
                context.reportError(new GraphQLError('Not this one.'))
            },
          }),
        ] as never,
      }),
    ],
    async holds(world) {
      const query = 'query ($id: ID!) { user(id: $id) { id name } }'
      for (const time of TIMES) {
        const { data } = await world.ask(query, { variables: { id: '1' } })
        expect([time, data]).toEqual([time, ada])
        const { errors } = await world.ask(query, { variables: { id: '2' } })
        expect([time, errors]).toEqual([time, ['Not this one.']])
      }
    },
  },
  {
    name: '@envelop/disable-introspection',
    promise: 'introspection is for those whom it lets, whoever asked before',
    readsHeaders: ['x-user'],
    plugins: () => [
      useEnvelopIntrospection({
        disableIf: ({ context }: any) => context.request.headers.get('x-user') !== 'alice',
      }),
    ],
    holds: introspects,
  },
  {
    name: '@graphql-yoga/plugin-disable-introspection',
    promise: 'introspection is for those whom it lets, whoever asked before',
    readsHeaders: ['x-user'],
    plugins: () => [
      useDisableIntrospection({ isDisabled: ({ headers }) => headers.get('x-user') !== 'alice' }),
    ],
    holds: introspects,
  },
  {
    name: '@envelop/filter-operation-type',
    promise: 'other operations are refused each time',
    plugins: () => [useFilterAllowedOperations([OperationTypeNode.QUERY])],
    async holds(world) {
      await answersAda(world)
      await refuses(world, 'mutation { rename(id: "1", name: "Eve") { id } }', /not allowed/i)
    },
  },
  {
    name: '@envelop/generic-auth, everything protected',
    promise: 'nobody without a user is answered, from the cache neither',
    readsHeaders: ['x-user'],
    plugins: () => [
      useGenericAuth({
        mode: 'protect-all',
        resolveUserFn: ({ request }: any) => request.headers.get('x-user'),
      }),
    ],
    async holds(world) {
      await answersAda(world, users.alice)
      await refuses(world, ADA, /unauth|not authenticated/i)
      const { data } = await world.ask(ADA, { headers: users.bob })
      expect(data).toEqual(ada)
    },
  },
  {
    name: '@envelop/generic-auth, the user in the context',
    promise: 'each has answers of his own',
    readsHeaders: ['x-user'],
    plugins: () => [
      useGenericAuth({
        mode: 'resolve-only',
        contextFieldName: 'who' as never,
        resolveUserFn: ({ request }: any) => request.headers.get('x-user'),
      }),
    ],
    holds: knowsWho,
  },
  {
    name: '@graphql-yoga/plugin-jwt',
    promise: 'nobody without a token is answered, and each has answers of his own',
    readsHeaders: ['authorization'],
    plugins: () => [
      useJWT({
        signingKeyProviders: [createInlineSigningKeyProvider('key')],
        tokenVerification: { algorithms: ['HS256'] },
        reject: { missingToken: true, invalidToken: true },
        extendContext: 'jwt',
      }),
      {
        readsHeaders: [],
        onContextBuilding: ({ context, extendContext }: any) =>
          extendContext({ who: context.jwt?.payload.sub }),
      },
    ],
    async holds({ ask }) {
      for (const time of TIMES) {
        for (const who of ['alice', 'bob']) {
          const { data } = await ask('{ me }', { headers: { authorization: token(who) } })
          expect([time, data]).toEqual([time, { me: who }])
        }
        const nobody = await ask('{ me }')
        expect([time, nobody.status, nobody.data]).toEqual([time, 401, undefined])
        const wrong = await ask('{ me }', { headers: { authorization: `${token('eve')}x` } })
        expect([time, wrong.status, wrong.data]).toEqual([time, 401, undefined])
      }
    },
  },
  {
    name: '@envelop/operation-field-permissions',
    promise: 'who may ask for a field gets it, and nobody else does, whoever asked before',
    readsHeaders: ['x-user'],
    plugins: () => [
      useOperationFieldPermissions({
        getPermissions: ({ request }: any) =>
          new Set([
            'User.*',
            'Query.user',
            ...(request.headers.get('x-user') === 'alice' ? ['Query.hidden'] : []),
          ]),
      }),
    ],
    async holds(world) {
      await answersAda(world)
      for (const time of TIMES) {
        const alice = await world.ask('{ hidden }', { headers: users.alice })
        expect([time, alice.data]).toEqual([time, { hidden: 'hidden' }])
        const bob = await world.ask('{ hidden }', { headers: users.bob })
        expect([time, bob.data ?? undefined, bob.errors[0]]).toEqual([
          time,
          undefined,
          expect.stringContaining('permission'),
        ])
      }
    },
  },
  {
    name: 'graphql-shield by @envelop/graphql-middleware',
    promise: 'a rule is asked for each who asks, whoever asked before',
    readsHeaders: ['x-user'],
    plugins: () => [
      useWho(),
      useGraphQLMiddleware([
        shield({
          Query: { hidden: rule({ cache: 'contextual' })((_, __, { who }: any) => who === 'alice') },
        }) as never,
      ]),
    ],
    async holds(world) {
      await answersAda(world)
      for (const time of TIMES) {
        const alice = await world.ask('{ hidden }', { headers: users.alice })
        expect([time, alice.data]).toEqual([time, { hidden: 'hidden' }])
        const bob = await world.ask('{ hidden }', { headers: users.bob })
        expect([time, bob.data]).toEqual([time, { hidden: null }])
      }
    },
  },
  {
    name: '@envelop/rate-limiter',
    promise: 'what is executed is counted for each who asks, and refused over the limit',
    readsHeaders: ['x-user'],
    plugins: () => [
      useRateLimiter({
        identifyFn: ({ request }: any) => request.headers.get('x-user') ?? '',
        configByField: [{ type: 'Query', field: 'user', max: 2, window: '10m' }],
      }),
    ],
    async holds({ ask }) {
      for (const headers of [users.alice, users.bob]) {
        const outcomes: boolean[] = []
        // Others each time, of which none is in the cache.
        for (const id of ['1', '2', '3', '4']) {
          const { errors } = await ask('query ($id: ID!) { user(id: $id) { name } }', {
            headers,
            variables: { id },
          })
          outcomes.push(errors.length === 0)
        }
        expect(outcomes).toEqual([true, true, false, false])
      }
    },
  },
  {
    name: '@graphql-yoga/plugin-csrf-prevention',
    promise: 'a request without its header is refused each time',
    plugins: () => [useCSRFPrevention({ requestHeaders: ['x-mine'] })],
    async holds({ origin, isCached }) {
      const target = `${origin}/graphql?query=${encodeURIComponent(ADA)}`
      for (const time of TIMES) {
        const good = await fetch(target, { headers: { 'x-mine': '1' } })
        expect([time, good.status, good.headers.get('x-cache')]).toEqual([
          time,
          200,
          isCached ? (time === 0 ? 'MISS' : 'HIT') : null,
        ])
        expect([time, (await fetch(target)).status]).toEqual([time, 403])
      }
    },
  },
]

async function introspects(world: World): Promise<void> {
  await answersAda(world)
  for (const time of TIMES) {
    const alice = await world.ask(TYPES, { headers: users.alice })
    expect([time, alice.data]).toEqual([time, types])
    const bob = await world.ask(TYPES, { headers: users.bob })
    expect([time, bob.data, bob.errors.length]).toEqual([time, undefined, expect.any(Number)])
    expect(bob.errors.length).toBeGreaterThan(0)
  }
}

async function knowsWho({ ask, isCached }: World): Promise<void> {
  for (const time of TIMES) {
    for (const [who, headers] of Object.entries(users)) {
      const { data, cache } = await ask('{ me }', { headers })
      expect([time, data, cache]).toEqual([
        time,
        { me: who },
        isCached ? (time === 0 ? 'MISS' : 'HIT') : null,
      ])
    }
  }
}
