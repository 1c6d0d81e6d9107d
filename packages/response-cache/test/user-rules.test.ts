import { createSchema, createYoga } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { useResponseCache, type ResponseCacheOptions } from '../src/index.ts'

// JavaScript lets `session` and `enabled` give and read anything, and configs in TypeScript are loaded unchecked.

const who = (context: any): string => context.request.headers.get('x-user')

/** Two users ask twice, each with a cookie; what they were told, and what the cache warned of. */
async function askTwice(options: object) {
  const warnings: string[] = []
  const plugin = useResponseCache({
    onEvent: (event) => event.type === 'warning' && warnings.push(event.warning.message),
    ...options,
  } as ResponseCacheOptions)
  const yoga = createYoga({
    logging: false,
    plugins: [plugin],
    schema: createSchema({
      typeDefs: 'type Query { me: String }',
      resolvers: { Query: { me: (_root: unknown, _args: unknown, context: any) => who(context) } },
    }),
  })
  const ask = async (user: string): Promise<string> => {
    const response = await yoga.fetch('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-user': user, cookie: `user=${user}` },
      body: '{"query":"{ me }"}',
    })
    const { data, errors } = (await response.json()) as any
    return `${data?.me ?? errors[0].message} ${response.headers.get('x-cache')}`
  }
  const told: string[] = []
  for (const user of ['ada', 'bob', 'ada', 'bob']) told.push(await ask(user))
  return { told, warnings }
}

const APART = ['ada MISS', 'bob MISS', 'ada HIT', 'bob HIT']
const NOT_CACHED = ['ada BYPASS', 'bob BYPASS', 'ada BYPASS', 'bob BYPASS']

describe('session', () => {
  it.each<readonly [string, (context: any) => unknown]>([
    ['a text', who],
    ['a number', (context) => who(context).length + who(context).charCodeAt(0)],
    ['a bigint', (context) => BigInt(who(context).charCodeAt(0))],
  ])('that is %s tells users apart', async (_, session) => {
    expect(await askTwice({ session })).toEqual({ told: APART, warnings: [] })
  })

  it.each<readonly [string, (context: any) => unknown]>([
    ['a promise', async (context) => who(context)],
    ['an object', (context) => ({ id: who(context) })],
    ['a list', (context) => [who(context)]],
    ['a function', () => who],
  ])('that is %s keeps answers out of the cache, and is told of once', async (what, session) => {
    const message = `response-cache: option session returned ${what}; expected a string or null. Operations with this value are not cached.`
    expect(await askTwice({ session })).toEqual({ told: NOT_CACHED, warnings: [message] })
  })
})

describe('enabled', () => {
  it('that is a promise keeps answers out of the cache, and is told of once', async () => {
    expect(await askTwice({ session: who, enabled: async () => false })).toEqual({
      told: NOT_CACHED,
      warnings: [
        'response-cache: option enabled returned a promise; expected true or false. Operations with this value are not cached.',
      ],
    })
  })
})

describe('functions that were written for a request', () => {
  it.each<readonly [string, string, object]>([
    ['session', 'headers', { session: (request: any) => request.headers?.get('x-user') }],
    ['session', 'url', { session: ({ url }: any) => url }],
    ['enabled', 'method', { session: who, enabled: (request: any) => request.method === 'POST' }],
  ])(
    '%s, which reads %s, keeps answers out of the cache, and is told of once',
    async (option, name, options) => {
      const message = `response-cache: option ${option} reads ${name} of its parameter, but the parameter is the context, not the request. Read the request from context.request. Responses are not cached until the option is fixed.`
      expect(await askTwice(options)).toEqual({ told: NOT_CACHED, warnings: [message] })
    },
  )

  it.each(['session', 'enabled'])('%s of two parameters is refused at the start', (option) => {
    expect(() => useResponseCache({ [option]: (_request: unknown, context: any) => who(context) })).toThrow(
      `response-cache: option ${option} takes more than one parameter; expected only the context. Read the request from context.request.`,
    )
  })

  it('what the context has may be read of it', async () => {
    const enabled = ({ request, params }: any): boolean => request !== undefined && params !== undefined
    expect(await askTwice({ session: who, enabled })).toEqual({ told: APART, warnings: [] })
  })
})

it.each<readonly [object, string]>([
  [{ strategy: 'entity' }, 'option strategy is "entity"; expected types, entities, all or a function.'],
  [{ varyHeaders: 'x-tenant' }, 'option varyHeaders is "x-tenant"; expected a list of strings'],
  [{ idFields: 'id' }, 'option idFields is "id"; expected a list of strings'],
  [
    { ignoredTypes: ['User'] } as never,
    'option ignoredTypes belongs to @envelop/response-cache; use ttlMsBySchemaCoordinate with a lifetime of 0.',
  ],
  [{ session: 'me' }, 'option session is "me"; expected a function.'],
  [{ enabled: false }, 'option enabled is false; expected a function.'],
])('%j is refused at the start', (options, message) => {
  expect(() => useResponseCache(options as ResponseCacheOptions)).toThrow(`response-cache: ${message}`)
})
