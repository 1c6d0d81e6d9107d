import type { ServerResponse } from 'node:http'
import { envelop, useEngine } from '@envelop/core'
import { createInvalidationBus, type InvalidationEvent } from '@vinyasa/invalidation'
import { mergeSchemas } from '@graphql-tools/schema'
import {
  execute,
  type GraphQLSchema,
  parse,
  specifiedRules,
  subscribe,
  validate,
  validateSchema,
} from 'graphql'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { createDisposables, startRestBackend, type RestBackend, type RestHandler } from '@vinyasa/test-kit'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, field, useRestConnector, type RestEndpoint } from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const USER = { id: '1', name: 'Ada', age: 36, address: { city: 'London' }, tags: ['a', 'b'] }

const endpoints: RestEndpoint[] = [
  {
    name: 'getUser',
    path: '/users/{id}',
    args: { id: 'ID!' },
    responseSchema: {
      typeName: 'User',
      fields: {
        id: field.id.required,
        name: field.string,
        age: field.int,
        address: field.object('Address', { city: field.string }),
        tags: field.list(field.string.required).required,
      },
    },
  },
  { name: 'search', path: '/search', queryParams: { q: '{q}', limit: '{limit}' }, args: { limit: 'Int' } },
  {
    name: 'createUser',
    path: '/users',
    method: 'POST',
    args: { name: 'String!', age: 'Int' },
    returnType: 'User',
  },
  {
    name: 'renameUser',
    path: '/users/{id}',
    method: 'PATCH',
    bodyTemplate: '{"user": {"name": "{name}", "age": {age}}}',
    args: { id: 'ID!', age: 'Int' },
  },
  {
    name: 'findUsers',
    path: '/find',
    method: 'POST',
    asQuery: true,
    args: { name: 'String' },
    returnType: '[User!]',
  },
]

async function start(handle: RestHandler = answer): Promise<RestBackend> {
  return cleanup.use(await startRestBackend(handle))
}

const answer: RestHandler = ({ method, rawUrl }) => {
  if (rawUrl.startsWith('/search')) return { json: { url: rawUrl } }
  if (rawUrl === '/find') return { json: [USER] }
  return { json: USER, status: method === 'POST' ? 201 : 200 }
}

async function ask(
  yoga: { fetch: (url: string, init: RequestInit) => Response | Promise<Response> },
  query: string,
): Promise<any> {
  const response = await yoga.fetch('http://yoga/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  return response.json()
}

describe('useRestConnector', () => {
  it('is the schema of a Yoga server that has none', async () => {
    const backend = await start()
    const connector = cleanup.use(createRestConnector('users', { baseUrl: backend.url, endpoints }))
    const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false })
    const result = await ask(
      yoga,
      `{ getUser(id: 1) { id name age address { city } tags } search(q: "a b&c", limit: 0) findUsers(name: "Ada") { id } }`,
    )
    expect(result).toEqual({
      data: { getUser: USER, search: { url: '/search?q=a%20b%26c&limit=0' }, findUsers: [{ id: '1' }] },
    })
  })

  it('adds fields beside the server’s own schema, on a root type of any name', async () => {
    const backend = await start()
    const connector = cleanup.use(createRestConnector('users', { baseUrl: backend.url, endpoints }))
    const yoga = createYoga({
      schema: createSchema({
        typeDefs: `schema { query: Root } type Root { hello(name: String = "you"): String }`,
        resolvers: { Root: { hello: (_: unknown, { name }: { name: string }) => `hi ${name}` } },
      }),
      plugins: [useRestConnector(connector)],
      logging: false,
    })
    expect(await ask(yoga, `{ hello getUser(id: 1) { name } }`)).toEqual({
      data: { hello: 'hi you', getUser: { name: 'Ada' } },
    })
    expect(await ask(yoga, `mutation { createUser(name: "Ada") { id } }`)).toEqual({
      data: { createUser: { id: '1' } },
    })
  })

  it('works on a plain Envelop without Yoga', async () => {
    const backend = await start()
    const connector = cleanup.use(createRestConnector('users', { baseUrl: backend.url, endpoints }))
    const getEnveloped = envelop({
      plugins: [
        useEngine({ parse, validate, execute, subscribe, specifiedRules }),
        useRestConnector(connector),
      ],
    })
    const enveloped = getEnveloped({})
    const document = enveloped.parse('{ getUser(id: 1) { name } }')
    expect(enveloped.validate(enveloped.schema, document)).toEqual([])
    const result = await enveloped.execute({ schema: enveloped.schema, document, contextValue: {} })
    expect(JSON.parse(JSON.stringify(result))).toEqual({ data: { getUser: { name: 'Ada' } } })
  })

  it.each(['before', 'after'])(
    'works with another source that replaces the schema, placed %s it',
    async (place) => {
      const backend = await start()
      const connector = cleanup.use(createRestConnector('users', { baseUrl: backend.url, endpoints }))
      const other = useOtherSource()
      const rest = useRestConnector(connector)
      const yoga = createYoga({ plugins: place === 'before' ? [other, rest] : [rest, other], logging: false })
      expect(await ask(yoga, `{ other { id } getUser(id: 1) { name } }`)).toEqual({
        data: { other: { id: 'o1' }, getUser: { name: 'Ada' } },
      })
    },
  )

  it('waits for a type that another source brings', async () => {
    const backend = await start(() => ({ json: { id: 'o2' } }))
    const connector = cleanup.use(
      createRestConnector('others', {
        baseUrl: backend.url,
        endpoints: [{ name: 'restOther', path: '/', returnType: 'Other' }],
      }),
    )
    const yoga = createYoga({ plugins: [useRestConnector(connector), useOtherSource()], logging: false })
    expect(await ask(yoga, `{ restOther { id } }`)).toEqual({ data: { restOther: { id: 'o2' } } })
  })

  it('refuses at start a type that nothing brings', () => {
    const connector = cleanup.use(
      createRestConnector('others', {
        baseUrl: 'http://127.0.0.1:1',
        endpoints: [
          { name: 'restOther', path: '/', returnType: 'Other' },
          { name: 'ok', path: '/' },
        ],
      }),
    )
    expect(() =>
      createYoga({
        schema: createSchema({ typeDefs: 'type Query { a: Int }' }),
        plugins: [useRestConnector(connector)],
      }),
    ).toThrow(
      'field Query.restOther of rest connector "others": GET / (endpoint restOther) needs Other, which is not defined',
    )
  })

  it('gives a server with nothing but mutations the query that GraphQL needs', () => {
    const connector = cleanup.use(
      createRestConnector('m', {
        baseUrl: 'http://127.0.0.1:1',
        endpoints: [{ name: 'post', path: '/', method: 'POST' }],
      }),
    )
    const getEnveloped = envelop({
      plugins: [
        useEngine({ parse, validate, execute, subscribe, specifiedRules }),
        useRestConnector(connector),
      ],
    })
    const { schema } = getEnveloped({})
    expect(validateSchema(schema)).toEqual([])
    expect(Object.keys(schema.getQueryType().getFields())).toEqual(['_sources'])
  })

  it('refuses at start two fields of one name, naming both origins', () => {
    const make = (name: string) =>
      cleanup.use(
        createRestConnector(name, {
          baseUrl: 'http://127.0.0.1:1',
          endpoints: [{ name: 'thing', path: `/${name}` }],
        }),
      )
    expect(() => createYoga({ plugins: [useRestConnector([make('one'), make('two')])] })).toThrow(
      'field Query.thing is defined twice, by rest connector "one": GET /one (endpoint thing) and by rest connector "two": GET /two (endpoint thing)',
    )
    expect(() =>
      createYoga({
        schema: createSchema({ typeDefs: 'type Query { thing: Int }' }),
        plugins: [useRestConnector(make('one'))],
      }),
    ).toThrow("the server's own schema and by rest connector")
  })

  it('answers SERVICE_UNAVAILABLE for the field of a stopped backend, and the others still come', async () => {
    const backend = await start()
    const connector = cleanup.use(
      createRestConnector('users', { baseUrl: backend.url, endpoints, noRetry: true }),
    )
    await backend.stop()
    const yoga = createYoga({
      schema: createSchema({
        typeDefs: 'type Query { hello: String }',
        resolvers: { Query: { hello: () => 'hi' } },
      }),
      plugins: [useRestConnector(connector)],
      logging: false,
    })
    const result = await ask(yoga, `{ hello getUser(id: 1) { name } }`)
    expect(result.data).toEqual({ hello: 'hi', getUser: null })
    expect(result.errors[0].extensions).toEqual({ code: 'SERVICE_UNAVAILABLE' })
    expect(JSON.stringify(result)).not.toContain('127.0.0.1')
  })
})

describe('mutations', () => {
  it('announce themselves before they answer', async () => {
    const backend = await start()
    const bus = createInvalidationBus()
    const events: InvalidationEvent[] = []
    bus.subscribe(async (published) => {
      await new Promise((resolve) => setImmediate(resolve))
      events.push(...published)
    })
    const connector = cleanup.use(createRestConnector('users', { baseUrl: backend.url, endpoints, bus }))
    const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false })
    await ask(yoga, `mutation { createUser(name: "Ada") { id } }`)
    expect(events).toEqual([{ entityType: 'User', operation: 'create', entityId: '1' }])
    await ask(yoga, `{ findUsers(name: "Ada") { id } }`)
    expect(events).toHaveLength(1)
  })

  it.each([
    ['cut off after it was sent', { write: (response: ServerResponse) => response.destroy() }, 1],
    ['answered with 500', { status: 500 }, 1],
    ['answered without JSON', { body: 'done', headers: { 'content-type': 'text/plain' } }, 1],
    ['refused', { status: 409 }, 0],
  ])('announce what they may have changed: %s', async (_, answer, count) => {
    const backend = await start(() => answer)
    const bus = createInvalidationBus()
    const events: InvalidationEvent[] = []
    bus.subscribe((published) => void events.push(...published))
    const connector = cleanup.use(
      createRestConnector('users', { baseUrl: backend.url, endpoints, bus, noRetry: true }),
    )
    const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false })
    const { errors } = await ask(yoga, `mutation { createUser(name: "Ada") { id } }`)
    expect(errors).toHaveLength(1)
    expect(events).toEqual(Array.from({ length: count }, () => ({ entityType: 'User', operation: 'create' })))
  })

  it('fill their body template as JSON', async () => {
    const backend = await start()
    const connector = cleanup.use(createRestConnector('users', { baseUrl: backend.url, endpoints }))
    await connector.execute('renameUser', { id: 7, name: '","admin":true,"x":"', age: 5 })
    expect(JSON.parse(String(backend.requests[0]?.body))).toEqual({
      user: { name: '","admin":true,"x":"', age: 5 },
    })
    expect(backend.requests[0]?.rawUrl).toBe('/users/7')
  })
})

describe('timeouts', () => {
  it('end a request whose answer never comes', async () => {
    const backend = await start(() => ({ delayMs: 60_000 }))
    const connector = cleanup.use(
      createRestConnector('slow', {
        baseUrl: backend.url,
        noRetry: true,
        endpoints: [{ name: 'slow', path: '/', timeoutMs: 30 }],
      }),
    )
    await expect(connector.execute('slow')).rejects.toMatchObject({
      message: 'The upstream did not respond within 30 ms.',
      extensions: { code: 'TIMEOUT', attempts: 1 },
    })
  })
})

/** A source of another kind, written as such sources are: it merges its own fields into whatever schema comes. */
function useOtherSource(): Plugin {
  const own = createSchema({
    typeDefs: 'type Query { other: Other } type Other { id: ID! }',
    resolvers: { Query: { other: () => ({ id: 'o1' }) } },
  })
  let setOwn: ((schema: GraphQLSchema) => void) | undefined
  let seen = false
  return {
    onPluginInit({ setSchema }) {
      setOwn = setSchema
    },
    onSchemaChange({ schema, replaceSchema }) {
      seen = true
      const base = schema as GraphQLSchema
      if (!base.getQueryType()?.getFields()['other']) replaceSchema(mergeSchemas({ schemas: [base, own] }))
    },
    onYogaInit() {
      if (!seen) setOwn?.(own)
    },
  }
}
