import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import type { MemberDefinition } from '../src/declare/type-definitions.ts'
import {
  createRestConnector,
  importOpenApi,
  useRestConnector,
  type RestConnectorOptions,
} from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const USER = {
  id: 1,
  address: { city: 'Pune', lines: [{ text: 'first' }], geo: { lat: 1.5 } },
  'address.zip': 'whole',
  '@odata.count': 4,
  '.tag': 'user',
  'a b.c': true,
  $: 'dollar',
  tags: [{ name: 'x' }],
}

const FIELDS: Readonly<Record<string, MemberDefinition>> = {
  city: { type: 'String', key: 'address.city' },
  zip: { type: 'String', key: 'address.zip' },
  zipInside: { type: 'String', key: '$.address.zip' },
  line: { type: 'String', key: 'address.lines[0].text' },
  quoted: { type: 'String', key: "$['address.zip']" },
  count: { type: 'Int', key: '@odata.count' },
  tag: { type: 'String', key: '.tag' },
  spaced: { type: 'Boolean', key: 'a b.c' },
  geo: { type: 'Geo', key: '$.address.geo' },
  gone: { type: 'String', key: 'nowhere.at.all' },
  inherited: { type: 'JSON', key: 'address.constructor' },
  tags: { type: '[JSON]' },
  notOfLists: { type: 'JSON', key: 'tags.name' },
  named: { type: 'String', key: "$['$']" },
  whole: { type: 'JSON', key: '$' },
  label: { type: 'Label!', key: '$' },
}
const GEO = { lat: { type: 'Float' } }
const LABEL = {
  text: { type: 'String', key: '.tag' },
  none: { type: 'String' },
  within: { type: 'Label', key: '$' },
  again: { type: 'Label', key: 'address' },
}

const DECLARED: Record<string, Partial<RestConnectorOptions>> = {
  responseSchema: {
    endpoints: [
      {
        name: 'user',
        path: '/user',
        returnType: 'User',
        responseSchema: {
          typeName: 'User',
          fields: {
            ...FIELDS,
            geo: { ...FIELDS['geo'], type: 'Geo', fields: { lat: 'float' } },
            label: { type: 'Label!', key: '$', fields: LABEL },
          },
        },
      },
    ],
  },
  types: {
    endpoints: [{ name: 'user', path: '/user', returnType: 'User' }],
    types: {
      User: { kind: 'object', fields: FIELDS },
      Geo: { kind: 'object', fields: GEO },
      Label: { kind: 'object', fields: LABEL },
    },
  },
}

async function ask(options: Partial<RestConnectorOptions>, query: string, reply: unknown = USER) {
  const backend = cleanup.use(await startRestBackend(() => ({ json: reply })))
  const outcomes: string[] = []
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: backend.url,
      endpoints: [],
      ...options,
      onPlan: ({ outcome }) => outcomes.push(outcome),
    }),
  )
  const yoga = createYoga({ logging: false, plugins: [useRestConnector(connector)] as never })
  const response = await yoga.fetch('http://gateway/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  return { answer: (await response.json()) as unknown, outcomes }
}

describe.each(Object.entries(DECLARED))('a path as the key of a field, in %s', (_where, options) => {
  it('is read in plans as without them, and a member of that very name comes first', async () => {
    const query =
      '{ user { city zip zipInside line quoted count tag spaced geo { lat } gone inherited tags notOfLists named } }'
    const planned = await ask(options, query)
    expect(planned.outcomes).toEqual(['planned'])
    expect(planned.answer).toEqual({
      data: {
        user: {
          city: 'Pune',
          zip: 'whole',
          zipInside: null,
          line: 'first',
          quoted: 'whole',
          count: 4,
          tag: 'user',
          spaced: true,
          geo: { lat: 1.5 },
          gone: null,
          inherited: null,
          tags: [{ name: 'x' }],
          notOfLists: null,
          named: 'dollar',
        },
      },
    })
    expect(await ask({ ...options, plans: false }, query)).toEqual({ ...planned, outcomes: ['unplanned'] })
  })

  it('`$` is the object itself, whose members an object type shows, null where they are not there', async () => {
    const query = '{ user { label { text none within { text again { text within { none } } } } whole } }'
    const planned = await ask(options, query)
    expect(planned.outcomes).toEqual(['planned'])
    const again = { text: null, within: { none: null } }
    expect(planned.answer).toEqual({
      data: { user: { label: { text: 'user', none: null, within: { text: 'user', again } }, whole: USER } },
    })
    expect(await ask({ ...options, plans: false }, query)).toEqual({ ...planned, outcomes: ['unplanned'] })
    for (const plans of [true, false])
      expect((await ask({ ...options, plans }, '{ user { label { text none } } }', {})).answer).toEqual({
        data: { user: { label: { text: null, none: null } } },
      })
  })

  it('gives the error of a member of the wrong kind', async () => {
    const wrong = { address: { city: { secret: 1 } } }
    const planned = await ask(options, '{ user { city } }', wrong)
    const { answer } = await ask({ ...options, plans: false }, '{ user { city } }', wrong)
    expect(JSON.stringify(answer)).not.toContain('secret')
    expect(planned.answer).toEqual(answer)
    expect(answer).toMatchObject({ errors: [{ extensions: { code: 'REST_BAD_RESPONSE' } }] })
  })
})

it.each([true, false])('a path as the key of a batched join, with plans: %s', async (plans) => {
  const posts = [{ by: 1 }, { by: 2 }, { by: 3 }]
  const users = [
    { meta: { id: 2 }, name: 'Grace' },
    { meta: { id: 1 }, name: 'Ada' },
    { meta: null, name: 'Nobody' },
  ]
  const backend = cleanup.use(
    await startRestBackend(({ url }) => ({ json: url.pathname === '/posts' ? posts : users })),
  )
  const author = { type: 'Post', field: 'author', args: { ids: '{by}' }, batch: { key: 'meta.id' } }
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: backend.url,
      plans,
      endpoints: [
        {
          name: 'posts',
          path: '/posts',
          returnType: '[Post!]!',
          responseSchema: { typeName: 'Post', fields: { by: 'int' } },
        },
        {
          name: 'users',
          path: '/users',
          args: { ids: '[Int!]!' },
          queryParams: { ids: '{ids}' },
          returnType: '[User!]!',
          responseSchema: { typeName: 'User', fields: { name: 'string' } },
          rootField: false,
          on: author,
        },
      ],
    }),
  )
  const yoga = createYoga({ logging: false, plugins: [useRestConnector(connector)] as never })
  const response = await yoga.fetch('http://gateway/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"query":"{ posts { author { name } } }"}',
  })
  expect(await response.json()).toEqual({
    data: { posts: [{ author: { name: 'Ada' } }, { author: { name: 'Grace' } }, { author: null }] },
  })
})

it.each(['address..city', 'address.', 'tags[*].name', 'tags[].name', '$.address.', '$[x]', 'a[-1]'])(
  'the key %j is no path, which stops the start',
  (key) => {
    const fields = { city: { type: 'String', key } }
    for (const options of [
      {
        endpoints: [
          { name: 'user', path: '/user', returnType: 'User', responseSchema: { typeName: 'User', fields } },
        ],
      },
      {
        endpoints: [{ name: 'user', path: '/user', returnType: 'User' }],
        types: { User: { kind: 'object' as const, fields } },
      },
    ])
      expect(() => createRestConnector('c', { baseUrl: 'http://127.0.0.1:1', ...options })).toThrow(
        /field "User\.city": key ".*" (is not a valid path; use a form such as|has a syntax error at position \d+;).*\$\['quoted name'\]/s,
      )
  },
)

const ENUM = { kind: 'enum', values: { A: { value: 'a' } } } as const
const ENTRY = { kind: 'entry', value: 'JSON' } as const

it.each(['Int', 'String!', '[ID]', '[Geo]', '[JSON]', 'Kind', 'Code'])(
  '%s is never the object itself',
  (type) => {
    const fields = { odd: { type, key: '$' } }
    const types = {
      Geo: { kind: 'object', fields: GEO },
      Kind: ENUM,
      Code: { kind: 'scalar' },
    } as const
    for (const options of [
      {
        endpoints: [{ name: 'user', path: '/user', responseSchema: { typeName: 'User', fields } }],
        types,
      },
      {
        endpoints: [{ name: 'user', path: '/user', returnType: 'User' }],
        types: { ...types, User: { kind: 'object' as const, fields } },
      },
    ])
      expect(() => createRestConnector('c', { baseUrl: 'http://127.0.0.1:1', ...options })).toThrow(
        `field "User.odd": key "$" refers to the object itself, which cannot be ${type}`,
      )
  },
)

it('entries of the object itself are a list', async () => {
  const fields = { id: { type: 'Int' }, all: { type: '[Entry!]', key: '$' } }
  const types = { User: { kind: 'object', fields }, Entry: ENTRY } as const
  const endpoints = [{ name: 'user', path: '/user', returnType: 'User' }]
  for (const plans of [true, false])
    expect(
      (await ask({ endpoints, types, plans }, '{ user { id all { key value } } }', { id: 1, n: [2] })).answer,
    ).toEqual({
      data: {
        user: {
          id: 1,
          all: [
            { key: 'id', value: 1 },
            { key: 'n', value: [2] },
          ],
        },
      },
    })
})

it('the item itself is no key of a batched join', () => {
  const endpoints = [
    {
      name: 'users',
      path: '/users',
      args: { ids: '[Int!]!' },
      queryParams: { ids: '{ids}' },
      returnType: '[User!]!',
      responseSchema: { typeName: 'User', fields: { name: 'string' } },
      on: { type: 'User', field: 'friend', args: { ids: '{name}' }, batch: { key: '$' } },
    },
  ]
  expect(() => createRestConnector('c', { baseUrl: 'http://127.0.0.1:1', endpoints })).toThrow(
    'join User.friend: key "$" refers to the object itself, which cannot be a key',
  )
})

it('reads a member of a document under its name alone, which is no path', async () => {
  const names = ['a.b', 'a..b', 'a[0]', "it's.x", String.raw`a\.b`, '$.a', '.', '[', "$['a']", '$']
  const schema = {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  }
  const document = {
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    paths: {
      '/user': {
        get: {
          operationId: 'user',
          responses: { 200: { description: 'ok', content: { 'application/json': { schema } } } },
        },
      },
    },
  }
  const { endpoints, types } = await importOpenApi(document)
  const [type = ''] = Object.keys(types)
  const fields = (types[type] as { fields: Record<string, MemberDefinition> }).fields
  const query = `{ user { ${Object.keys(fields).join(' ')} } }`
  const whole = await ask({ endpoints, types }, query, Object.fromEntries(names.map((name) => [name, name])))
  expect(Object.values((whole.answer as { data: { user: object } }).data.user)).toEqual(names)
  const inside = await ask({ endpoints, types }, query, { a: { b: 'inside' }, it: { s: { x: 'inside' } } })
  expect(Object.values((inside.answer as { data: { user: object } }).data.user)).toEqual(
    names.map(() => null),
  )
})
