import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import type { GraphQLSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import {
  createRestConnector,
  useRestConnector,
  type RestConnectorOptions,
  type RestEndpoint,
} from '../src/index.ts'
import type { PlanEvent } from '@vinyasa/source-kit'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

type Answer = (url: URL) => {
  json?: unknown
  status?: number
  headers?: Readonly<Record<string, string | string[]>>
}

async function serve(
  endpoints: readonly RestEndpoint[],
  answer: Answer,
  options: Partial<RestConnectorOptions> = {},
  basePath = '',
) {
  const backend = cleanup.use(await startRestBackend(({ url }) => answer(url)))
  const events: PlanEvent[] = []
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: backend.url + basePath,
      endpoints,
      noRetry: true,
      onPlan: (event) => void events.push(event),
      ...options,
    }),
  )
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false, maskedErrors: false })
  const ask = async (query: string): Promise<any> => {
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    })
    return response.json()
  }
  return { ask, backend, connector, events }
}

const item = { typeName: 'Item', fields: { id: 'id', name: 'string' } }
const items: RestEndpoint = {
  name: 'items',
  path: '/items',
  args: { page: 'Int' },
  queryParams: { page: '{page}' },
  returnType: '[Item!]',
  responseSchema: item,
  envelope: {
    headers: {
      total: { header: 'X-Total-Count', type: 'Int' },
      exact: { header: 'X-Long', type: 'Long' },
      isLast: { header: 'X-Last', type: 'Boolean' },
      allow: { header: 'Allow', type: '[String]' },
      location: { header: 'Location' },
    },
    next: true,
  },
}

describe('an envelope', () => {
  it('has the answer as body, and headers as fields of their types, in a plan', async () => {
    const headers = {
      'x-total-count': '12',
      'x-long': '9007199254740993',
      'x-last': 'true',
      allow: 'GET, HEAD',
    }
    const { ask, events } = await serve([items], () => ({ json: [{ id: 1, name: 'a' }], headers }))
    const query = '{ items { body { id name } headers { total exact isLast allow location } } }'
    for (const _ of [1, 2])
      expect(await ask(query)).toEqual({
        data: {
          items: {
            body: [{ id: '1', name: 'a' }],
            headers: {
              total: 12,
              exact: '9007199254740993',
              isLast: true,
              allow: ['GET', 'HEAD'],
              location: null,
            },
          },
        },
      })
    expect(events.map(({ outcome }) => outcome)).toEqual(['planned'])
  })

  it('says the same by a plan and without, whatever the headers hold', async () => {
    let headers: Record<string, string> = {}
    let json: unknown = null
    const answer: Answer = () => ({ json, headers })
    const planned = await serve([items], answer)
    const ordinary = await serve([items], answer, { plans: false })
    const value = fc.oneof(
      fc.integer().map(String),
      fc.constantFrom('true', 'false', '', '1.5', 'a, b', ',', '9007199254740993', 'x'),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.constantFrom('x-total-count', 'x-long', 'x-last', 'allow', 'location'), value),
        fc.oneof(fc.constant([{ id: 1, name: 'a' }]), fc.jsonValue({ maxDepth: 1 })),
        async (given, body) => {
          headers = given
          json = body
          const query = '{ items { body { id } headers { total exact isLast allow location } } }'
          const [a, b] = [await planned.ask(query), await ordinary.ask(query)]
          for (const result of [a, b])
            result.errors?.sort((x: any, y: any) => (String(x.path) < String(y.path) ? -1 : 1))
          expect(a).toEqual(b)
        },
      ),
      { numRuns: 100 },
    )
  })

  it('says what a header is not, at its place alone', async () => {
    const { ask } = await serve([items], () => ({ json: [], headers: { 'x-total-count': 'many' } }))
    const { data, errors } = await ask('{ items { body { id } headers { total } } }')
    expect(data.items).toEqual({ body: [], headers: { total: null } })
    expect(errors).toMatchObject([{ path: ['items', 'headers', 'total'] }])
  })

  it('takes the names of headers for fields in camel case', async () => {
    const endpoint = { name: 'one', path: '/one', envelope: { headers: ['ETag', 'X-RateLimit-Remaining'] } }
    const { ask } = await serve([endpoint], () => ({ json: 1, headers: { etag: '"a"' } }))
    const { data } = await ask('{ one { body headers { etag xRatelimitRemaining } } }')
    expect(data.one).toEqual({ body: 1, headers: { etag: '"a"', xRatelimitRemaining: null } })
  })

  it('comes from the cache, and from a shared call, whole', async () => {
    const { ask, backend } = await serve(
      [items],
      () => ({ json: [{ id: 1 }], headers: { 'x-total-count': '3' } }),
      { cacheSize: 10 },
    )
    const query = '{ a: items { body { id } headers { total } } b: items { headers { total } } }'
    const expected = { a: { body: [{ id: '1' }], headers: { total: 3 } }, b: { headers: { total: 3 } } }
    for (const _ of [1, 2]) expect((await ask(query)).data).toEqual(expected)
    expect(backend.requests).toHaveLength(1)
  })

  it('is what execute gives, and a mutation announces what is in it', async () => {
    const create: RestEndpoint = {
      name: 'createItem',
      method: 'POST',
      path: '/items',
      returnType: 'Item',
      envelope: { headers: ['Location'] },
      invalidates: [{ entityType: 'Item', operation: 'create', entityId: '$.id' }],
    }
    const events: unknown[] = []
    const { createInvalidationBus } = await import('@vinyasa/invalidation')
    const bus = createInvalidationBus()
    bus.subscribe((some) => void events.push(...some))
    const { connector, ask } = await serve(
      [items, create],
      () => ({ json: { id: 7 }, headers: { location: '/items/7' } }),
      { bus },
    )
    expect(await connector.execute('createItem')).toEqual({
      body: { id: 7 },
      headers: { location: '/items/7' },
    })
    expect(events).toContainEqual({ entityType: 'Item', operation: 'create', entityId: '7' })
    const { data } = await ask('mutation { createItem { body { id } headers { location } } }')
    expect(data.createItem).toEqual({ body: { id: '7' }, headers: { location: '/items/7' } })
  })

  it.each([
    ['a non-null header', { headers: { a: { header: 'a', type: 'Int!' } } }, /non-null/],
    ['a header with no name', { headers: { a: { header: 'a b' } } }, /not a valid header name/],
    ['a link called body', { links: { body: { endpoint: 'items', args: {} } } }, /choose another/],
    ['a link to nowhere', { links: { a: { endpoint: 'none', args: {} } } }, /unknown endpoint "none"/],
    [
      'a link with an odd argument',
      { links: { a: { endpoint: 'items', args: { x: { value: 1 } } } } },
      /no argument "x"/,
    ],
  ] as const)('refuses %s', (_, envelope, message) => {
    const endpoints = [items, { name: 'one', path: '/one', envelope }]
    expect(() => createRestConnector('c', { baseUrl: 'http://localhost', endpoints })).toThrow(message)
  })
})

describe('endpoints that share the type of their envelope', () => {
  const shared = { typeName: 'ItemPage', next: true } as const
  const page = (name: string): RestEndpoint => ({
    name,
    path: `/${name}`,
    headers: { 'x-of': name },
    returnType: '[Item!]',
    responsePath: `$.${name}`,
    responseSchema: item,
    envelope: shared,
  })

  it('continue with the endpoint that an object came from', async () => {
    const seen: string[] = []
    const backend = cleanup.use(
      await startRestBackend(({ url, headers }) => {
        const name = url.pathname.slice(1)
        const isFirst = !url.searchParams.has('page')
        seen.push(`${name} ${headers['x-of']}`)
        return {
          json: { [name]: [{ id: isFirst ? `${name} 1` : `${name} 2` }] },
          ...(isFirst && { headers: { link: `</${name}?page=2>; rel=next` } }),
        }
      }),
    )
    const connector = cleanup.use(
      createRestConnector('c', { baseUrl: backend.url, endpoints: [page('apples'), page('pears')] }),
    )
    const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false, maskedErrors: false })
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        query: '{ apples { next { body { id } } } pears { body { id } next { body { id } } } }',
      }),
    })
    expect(await response.json()).toEqual({
      data: {
        apples: { next: { body: [{ id: 'apples 2' }] } },
        pears: { body: [{ id: 'pears 1' }], next: { body: [{ id: 'pears 2' }] } },
      },
    })
    expect(seen.toSorted()).toEqual(['apples apples', 'apples apples', 'pears pears', 'pears pears'])
  })

  it('follow their own links of one name', async () => {
    const detail = (name: string): RestEndpoint => ({
      name,
      path: `/${name}/{id}`,
      args: { id: 'ID!' },
      returnType: 'Item',
      rootField: true,
    })
    const linked = (name: string): RestEndpoint => ({
      ...page(name),
      envelope: {
        typeName: 'LinkedPage',
        links: { first: { endpoint: `${name}Detail`, args: { id: { body: '$[0].id' } } } },
      },
    })
    const { ask } = await serve(
      [linked('apples'), linked('pears'), detail('applesDetail'), detail('pearsDetail')],
      ({ pathname }) => {
        const [, name = '', id] = pathname.split('/')
        return { json: id ? { id: `${name} ${id}` } : { [name]: [{ id: 7 }] } }
      },
    )
    const { data } = await ask('{ apples { first { id } } pears { first { id } } }')
    expect(data).toEqual({
      apples: { first: { id: 'applesDetail 7' } },
      pears: { first: { id: 'pearsDetail 7' } },
    })
  })
})

it.each<[string, RestEndpoint['envelope'], RegExp]>([
  ['a next page', {}, /body, next in .*\(endpoint a\) and body in .*\(endpoint b\)/],
  [
    'headers',
    { next: true, headers: ['X-Total'] },
    /body, next in .*\(endpoint a\) and body, headers\.xTotal, next in/,
  ],
  [
    'links',
    { next: true, links: { self: { endpoint: 'a', args: {} } } },
    /body, next in .*\(endpoint a\) and body, next, self in/,
  ],
])(
  'endpoints that share an envelope type stop the start if only one of them has %s',
  (_, envelope, message) => {
    const endpoint = { path: '/x', returnType: 'JSON' } as const
    const endpoints: RestEndpoint[] = [
      { ...endpoint, name: 'a', envelope: { typeName: 'Page', next: true } },
      { ...endpoint, name: 'b', envelope: { ...envelope, typeName: 'Page' } },
    ]
    expect(() => createRestConnector('c', { baseUrl: 'http://host', endpoints })).toThrow(message)
  },
)

it('an object of the envelope type that another plugin made follows the links of the one endpoint', async () => {
  const backend = cleanup.use(await startRestBackend(({ url }) => ({ json: { id: url.pathname } })))
  const list: RestEndpoint = {
    ...items,
    envelope: { links: { detail: { endpoint: 'item', args: { id: { body: '$[0].id' } } } } },
  }
  const one: RestEndpoint = { name: 'item', path: '/item/{id}', args: { id: 'ID!' }, returnType: 'Item' }
  const connector = cleanup.use(createRestConnector('c', { baseUrl: backend.url, endpoints: [list, one] }))
  const ownItems = {
    onSchemaChange({ schema }: { schema: GraphQLSchema }) {
      const field = schema.getQueryType()?.getFields()['items']
      if (field) field.resolve = () => ({ body: [{ id: 7 }] })
    },
  }
  const yoga = createYoga({ plugins: [useRestConnector(connector), ownItems], logging: false })
  const response = await yoga.fetch('http://yoga/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ items { detail { id } } }' }),
  })
  expect(await response.json()).toEqual({ data: { items: { detail: { id: '/item/7' } } } })
})

it('links of one name to endpoints with other arguments stop the start', () => {
  const detail = (name: string, arg: string): RestEndpoint => ({
    name,
    path: `/${name}/{id}`,
    args: { id: 'ID!', [arg]: 'String' },
    queryParams: { [arg]: `{${arg}}` },
    returnType: 'Item',
    responseSchema: item,
  })
  const linked = (name: string, endpoint: string): RestEndpoint => ({
    name,
    path: `/${name}`,
    returnType: 'Item',
    envelope: { typeName: 'Page', links: { detail: { endpoint, args: { id: { body: '$.id' } } } } },
  })
  const endpoints = [detail('one', 'lang'), detail('other', 'size'), linked('a', 'one'), linked('b', 'other')]
  expect(() => createRestConnector('c', { baseUrl: 'http://host', endpoints })).toThrow(
    /field Page\.detail has lang: String from .*\(endpoint a\) and size: String from .*\(endpoint b\)/,
  )
})

it('two endpoints that join the same field stop the start', () => {
  const join = (name: string): RestEndpoint => ({
    name,
    path: `/${name}/{id}`,
    args: { id: 'ID!' },
    returnType: 'Item',
    responseSchema: item,
    on: { type: 'Item', field: 'twin', args: { id: '{id}' } },
  })
  expect(() =>
    createRestConnector('c', { baseUrl: 'http://host', endpoints: [join('one'), join('other')] }),
  ).toThrow(/Item\.twin is added by .*\(endpoint one\) and by .*\(endpoint other\); give one of them/)
})

describe('next', () => {
  const pages: Answer = (url) => {
    const page = Number(url.searchParams.get('page') ?? 1)
    const to = new URL(url)
    to.searchParams.set('page', String(page + 1))
    const link = `<${to.pathname}${to.search}>; title="a, b; c"; rel="prefetch next", </>; rel=first`
    return { json: [{ id: page }], ...(page < 3 && { headers: { link } }) }
  }

  it('is the next page, as far as there is one', async () => {
    const { ask, backend } = await serve([items], pages)
    const { data } = await ask(
      '{ items { body { id } next { body { id } next { body { id } next { body { id } } } } } }',
    )
    expect(data.items).toEqual({
      body: [{ id: '1' }],
      next: { body: [{ id: '2' }], next: { body: [{ id: '3' }], next: null } },
    })
    expect(backend.requests.map(({ rawUrl }) => rawUrl)).toEqual(['/items', '/items?page=2', '/items?page=3'])
  })

  it('is kept apart from other pages by the cache', async () => {
    const { ask, backend } = await serve([items], pages, { cacheSize: 10 })
    const query = '{ items { body { id } next { body { id } } } }'
    const first = await ask(query)
    expect(await ask(query)).toEqual(first)
    expect(backend.requests).toHaveLength(2)
  })

  const origin = 'http://127.0.0.1:1'
  it.each([
    `<${origin}/v1/items?page=2>; rel=next`,
    '</other>; rel=next',
    '</v1/../admin>; rel=next',
    '</v1/%2e%2e/admin>; rel=next',
    '<//evil.example/v1/items>; rel=next',
    '<http://[>; rel=next',
    '</v1x>; rel=next',
    `</v1/items?${'x'.repeat(9000)}>; rel=next`,
  ])('is not asked for outside of the base URL: %s', async (link) => {
    const { ask, backend } = await serve([items], () => ({ json: [], headers: { link } }), {}, '/v1')
    const { data, errors } = await ask('{ items { body { id } next { body { id } } } }')
    expect(data.items).toEqual({ body: [], next: null })
    expect(errors).toMatchObject([{ path: ['items', 'next'], extensions: { code: 'REST_BAD_RESPONSE' } }])
    expect(backend.requests).toHaveLength(1)
  })

  it('never takes a Link header for more than it is, whatever it holds', async () => {
    let link = ''
    const { ask, backend } = await serve([items], () => ({ json: [], headers: { link } }), {}, '/v1')
    const piece = fc.oneof(
      fc.constantFrom(
        '<',
        '>',
        ';',
        ',',
        '"',
        'rel=next',
        'rel="next"',
        '/v1/items?page=2',
        ' ',
        '\\',
        '=',
        'a',
      ),
      fc.string({ maxLength: 3 }).map((text) => text.replaceAll(/[^\x21-\x7e]/g, '')),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        link = pieces.join('')
        const before = backend.requests.length
        await ask('{ items { next { body { id } } } }')
        for (const { rawUrl } of backend.requests.slice(before)) expect(rawUrl).toMatch(/^\/v1\//)
      }),
      { numRuns: 200 },
    )
  })

  it('counts among the requests of its operation', async () => {
    const { ask } = await serve([items], pages, { maxRequestsPerOperation: 2 })
    const { data, errors } = await ask('{ items { next { next { body { id } } } } }')
    expect(data.items.next.next).toBeNull()
    expect(errors[0].extensions.code).toBe('REST_TOO_MANY_REQUESTS_IN_OPERATION')
  })
})

describe('links', () => {
  const user: RestEndpoint = {
    name: 'user',
    path: '/users/{id}',
    args: { id: 'ID!', lang: 'String' },
    queryParams: { lang: '{lang}' },
  }
  const order: RestEndpoint = {
    name: 'order',
    path: '/orders/{id}',
    args: { id: 'ID!', lang: 'String' },
    queryParams: { lang: '{lang}' },
    envelope: {
      links: {
        owner: { endpoint: 'user', args: { id: { body: '$.owner.id' } } },
        self: { endpoint: 'order', args: { id: { arg: 'id' }, lang: { arg: 'lang' } } },
        editor: { endpoint: 'user', args: { id: { header: 'X-Editor' }, lang: { value: 'en' } } },
      },
    },
  }

  it('ask other endpoints with what the answer, its headers and its arguments hold', async () => {
    const { ask, backend } = await serve([user, order], ({ pathname, search }) => ({
      json: pathname.startsWith('/orders') ? { owner: { id: 7 } } : pathname + search,
      headers: { 'x-editor': '8' },
    }))
    const { data } = await ask('{ order(id: 1, lang: "de") { owner(lang: "fr") editor self { body } } }')
    expect(data.order).toEqual({
      owner: '/users/7?lang=fr',
      editor: '/users/8?lang=en',
      self: { body: { owner: { id: 7 } } },
    })
    expect(backend.requests.at(-1)?.rawUrl ?? '').toMatch(/users|orders/)
  })

  it('are null where the answer has nothing to ask with', async () => {
    const { ask, backend } = await serve([user, order], () => ({ json: {} }))
    expect((await ask('{ order(id: 1) { owner editor } }')).data).toEqual({
      order: { owner: null, editor: null },
    })
    expect(backend.requests).toHaveLength(1)
  })
})
