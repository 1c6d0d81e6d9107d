import { createHash } from 'node:crypto'
import { connectRawWebSocket, startRestBackend } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseConfig } from '../src/config/file/parse-config.ts'
import type { GatewayConfig } from '../src/config/types.ts'
import { post, startGateway } from './support/gateway.ts'

interface Params {
  readonly query: string
  readonly variables?: object
}

type Way = (endpoint: string, params: Params) => Promise<string>

const CSRF = { 'x-graphql-csrf': '1' }

async function text(response: Promise<Response>): Promise<string> {
  const { status, body } = await response
  const decoder = new TextDecoder()
  let read = `${status} `
  for await (const chunk of body ?? []) {
    read += decoder.decode(chunk as Uint8Array, { stream: true })
    if (/data:.*\n\n/.test(read)) break
  }
  return read
}

function over(path: string): Way {
  return async (endpoint, params) => {
    await using socket = await connectRawWebSocket(`${endpoint}${path}`)
    socket.sendJson({ type: 'connection_init' })
    await socket.nextJson()
    socket.sendJson({ type: 'subscribe', id: '1', payload: params })
    return (await socket.next()).text
  }
}

const live = (query: string): string => query.replace(/^query Q(\(.*?\))?/, 'query Q$1 @live')

const WAYS: Readonly<Record<string, Way>> = {
  POST: (endpoint, params) => text(post(endpoint, params)),
  'POST, once more': async (endpoint, params) => {
    await text(post(endpoint, params))
    return text(post(endpoint, params))
  },
  GET: (endpoint, { query, variables = {} }) =>
    text(
      fetch(`${endpoint}?${new URLSearchParams({ query, variables: JSON.stringify(variables) })}`, {
        headers: CSRF,
      }),
    ),
  batch: (endpoint, params) => text(post(endpoint, [{ query: '{ __typename }' }, params])),
  'multipart request': (endpoint, params) => {
    const body = new FormData()
    body.set('operations', JSON.stringify(params))
    body.set('map', '{}')
    return text(fetch(endpoint, { method: 'POST', headers: CSRF, body }))
  },
  'multipart response': (endpoint, { query, variables }) =>
    text(
      post(
        endpoint,
        { query: query.replace('{ name }', '{ ... @defer { name } }'), variables },
        { accept: 'multipart/mixed' },
      ),
    ),
  'SSE, live': (endpoint, { query, variables }) =>
    text(post(endpoint, { query: live(query), variables }, { accept: 'text/event-stream' })),
  'socket of GraphQL': over(''),
  'socket of live queries': over('/live'),
  'socket, live': (endpoint, { query, variables }) =>
    over('/live')(endpoint, { query: live(query), ...(variables && { variables }) }),
  'automatic persisted query': (endpoint, { query, variables }) => {
    const sha256Hash = createHash('sha256').update(query).digest('hex')
    return text(
      post(endpoint, { query, variables, extensions: { persistedQuery: { version: 1, sha256Hash } } }),
    )
  },
}

const TYPE_DEFS = `
  type User { name: String friends(first: Int = 3): [User!] @listSize(slicingArguments: ["first"]) }
  type Page { items: [User!] total: Int }
  input Paging { first: Int = 4 }
  input Filter { text: String @cost(weight: "3") not: Filter any: [Filter!] @cost(weight: "0.5") plain: Int }
  type Query {
    users(first: Int, last: Int): [User!]
    any(limit: Int): [User!]
    search(page: Paging): Page @listSize(slicingArguments: ["page.first"], sizedFields: ["items"])
    find(where: Filter, all: [Filter!]): User
    dear: User @cost(weight: "7.5")
  }
  type Mutation { rename(name: String): User }
  type Subscription { renamed(first: Int): [User!] }
`

interface Stage {
  readonly endpoint: string
  /** How often a list was asked for. */
  asked(): number
}

async function stage(config: GatewayConfig): Promise<Stage> {
  let asked = 0
  const users = (): object[] => {
    asked++
    return [{ name: 'Ada' }]
  }
  const { endpoint } = await startGateway({
    typeDefs: TYPE_DEFS,
    resolvers: {
      Query: {
        users,
        any: users,
        search: () => ({ items: users() }),
        dear: () => users()[0],
        find: () => users()[0],
      },
      Mutation: { rename: () => users()[0] },
      Subscription: {
        renamed: {
          async *subscribe() {
            yield { renamed: users() }
          },
        },
      },
    },
    dependencies: { 'Query.users': { variesBy: [] } },
    liveQuery: { defaults: { enabled: true } },
    responseCache: true,
    defer: 'default',
    apq: true,
    graphql: { batching: 3 },
    ...config,
  })
  return { endpoint, asked: () => asked }
}

const FIELDS = {
  'Query.users': { listSize: { slicingArguments: ['first', 'last'] } },
  'Query.any': { listSize: { slicingArguments: ['limit'], requireOneSlicingArgument: false } },
  'Subscription.renamed': { listSize: { slicingArguments: ['first'] } },
}
const REFUSED = /COST_ESTIMATED_TOO_EXPENSIVE.*"cost":\{"estimated":51,"max":50\}/

describe('cost', () => {
  it.each(Object.entries(WAYS))('counts slicing arguments over %s', async (name, ask) => {
    const { endpoint, asked } = await stage({ cost: { max: 50, fields: FIELDS } })
    const literal = (first: number): Params => ({ query: `query Q { users(first: ${first}) { name } }` })
    const variable = (first: number): Params => ({
      query: 'query Q($first: Int = 99) { users(first: $first) { name } }',
      variables: { first },
    })
    for (const params of [literal, variable]) {
      // What is learned of the small ones says nothing of the large one.
      for (const first of [1, 2, 50]) expect(await ask(endpoint, params(first))).toContain('Ada')
      const before = asked()
      const answer = await ask(endpoint, params(51))
      expect(answer).toMatch(REFUSED)
      // A batch has other answers.
      expect(answer.startsWith('400 ')).toBe(!/socket|batch/.test(name))
      expect(asked()).toBe(before)
    }
    expect(
      await ask(endpoint, { query: 'query Q($first: Int = 99) { users(first: $first) { name } }' }),
    ).toMatch(/"estimated":99/)
  })

  it('counts those of subscriptions and mutations', async () => {
    const { endpoint, asked } = await stage({
      cost: { max: 50, fields: { ...FIELDS, 'Mutation.rename': { weight: 41 } } },
    })
    const subscribe = (first: number): Promise<string> =>
      over('')(endpoint, { query: `subscription { renamed(first: ${first}) { name } }` })
    expect(await subscribe(50)).toContain('Ada')
    expect(await subscribe(51)).toMatch(REFUSED)
    expect(asked()).toBe(1)
    expect(await text(post(endpoint, { query: 'mutation { rename { name } }' }))).toMatch(REFUSED)
    expect(asked()).toBe(1)
  })

  it.each([
    ['{ dear { name } }', 7.5],
    ['{ a: dear { name } b: dear { name } }', 15],
    ['{ dear { name } ...F } fragment F on Query { dear { n: name } }', 7.5],
    // Of each user 3 friends, by the argument's default.
    ['{ users(first: 2) { friends { name } } }', 2 * (1 + 3)],
    ['{ users(first: 2) { friends(first: 5) { friends(first: 6) { name } } } }', 2 * (1 + 5 * (1 + 6))],
    // The page, and its items by the default of the input's field.
    ['{ search(page: {}) { total items { name } } }', 1 + 4],
    ['{ search(page: { first: 9 }) { total items { name } } }', 1 + 9],
    ['{ search(page: { first: 9 }) { total } }', 1],
    ['{ users(first: 4) { name @skip(if: true) friends @include(if: false) { name } } }', 4],
    ['{ __schema { types { name fields { name } } } }', 0],
  ])('of %s is %d', async (query, cost) => {
    const { endpoint } = await stage({ cost: { max: cost, fields: FIELDS } })
    expect(await text(post(endpoint, { query }))).toMatch(/^200 .*"data"/)
    // 0 would be no limit at all.
    if (cost <= 1) return
    const strict = await stage({ cost: { max: Math.ceil(cost) - 1, fields: FIELDS } })
    expect(await text(post(strict.endpoint, { query }))).toContain(`"estimated":${cost},`)
  })

  it.each([
    ['{ text: "a" }', 3],
    ['{ plain: 1 }', 0],
    ['null', 0],
    ['{ text: "a", not: { text: "b", not: { plain: 2 } } }', 6],
    ['{ any: [{ text: "a" }, { text: "b" }, { plain: 1 }] }', 6.5],
    // One in place of a list.
    ['{ any: { text: "a" } }', 3.5],
  ])('counts the fields of the input %s that are given', async (input, cost) => {
    const { endpoint } = await stage({ cost: { includeExtensionMetadata: true } })
    const where: unknown = JSON.parse(input.replaceAll(/(\w+):/g, '"$1":'))
    const asks: readonly Params[] = [
      { query: `{ find(where: ${input}) { name } }` },
      { query: 'query ($where: Filter) { find(where: $where) { name } }', variables: { where } },
      { query: `query ($where: Filter = ${input}) { find(where: $where) { name } }` },
      ...(input === 'null'
        ? []
        : [{ query: 'query ($one: Filter!) { find(all: [$one]) { name } }', variables: { one: where } }]),
    ]
    for (const params of asks)
      expect(await text(post(endpoint, params))).toContain(`"cost":{"estimated":${1 + cost},"actual":1}`)
  })

  it('takes their weights from the config over the directives', async () => {
    const { endpoint } = await stage({
      cost: {
        includeExtensionMetadata: true,
        fields: { 'Filter.text': { weight: 5 }, 'Filter.plain': { weight: 1 } },
      },
    })
    const query = '{ find(where: { text: "a", plain: 2 }) { name } }'
    expect(await text(post(endpoint, { query }))).toContain('"cost":{"estimated":7,"actual":1}')
  })

  it.each([
    ['{ users { name } }', 'none'],
    ['{ users(first: 1, last: 1) { name } }', 'first and last'],
    ['query ($last: Int) { users(first: null, last: $last) { name } }', 'none'],
  ])('refuses %s, as the size is not said once', async (query, received) => {
    const { endpoint, asked } = await stage({ cost: { max: 50, fields: FIELDS } })
    const { errors } = (await (await post(endpoint, { query })).json()) as { errors: any[] }
    expect(errors[0]).toMatchObject({
      message: `Query.users requires exactly one of the arguments first or last to limit the number of items; received ${received}.`,
      extensions: { code: 'COST_SLICING_ARGUMENT_REQUIRED' },
    })
    expect(asked()).toBe(0)
  })

  it.each([
    ['{ users(first: 0) { name } }', {}, 'Query.users', 'first', '0'],
    ['{ users(first: -5) { name } }', {}, 'Query.users', 'first', '-5'],
    ['query ($n: Int) { users(first: $n) { name } }', { n: 0 }, 'Query.users', 'first', '0'],
    ['{ any(limit: 0) { name } }', {}, 'Query.any', 'limit', '0'],
    ['{ any(limit: null) { name } }', {}, 'Query.any', 'limit', 'null'],
    ['query ($n: Int) { any(limit: $n) { name } }', { n: null }, 'Query.any', 'limit', 'null'],
    ['query ($n: Int = 0) { any(limit: $n) { name } }', {}, 'Query.any', 'limit', '0'],
    ['{ search(page: { first: 0 }) { items { name } } }', {}, 'Query.search', 'page.first', '0'],
  ])(
    'refuses %s %j, which asks for nobody knows how many',
    async (query, variables, field, name, received) => {
      const { endpoint, asked } = await stage({ cost: { max: 50, fields: FIELDS } })
      const { errors } = (await (await post(endpoint, { query, variables })).json()) as { errors: any[] }
      expect(errors[0]).toMatchObject({
        message: `${field} requires a value of 1 or more for the argument ${name}, which limits the number of items; received ${received}.`,
        extensions: { code: 'COST_SLICING_ARGUMENT_REQUIRED' },
      })
      expect(asked()).toBe(0)
    },
  )

  it.each(['{ any(limit: 0) { name } }', '{ any(limit: null) { name } }'])(
    'counts %s as the size that its rule assumes',
    async (query) => {
      const listSize = { slicingArguments: ['limit'], requireOneSlicingArgument: false, assumedSize: 40 }
      const cost = { max: 39, fields: { ...FIELDS, 'Query.any': { listSize } } }
      const { endpoint } = await stage({ cost })
      expect(await text(post(endpoint, { query }))).toContain('"estimated":40,"max":39')
    },
  )

  it('has a bound in the production preset, and none in development', async () => {
    const deep = '{ users { friends { friends { friends { friends { name } } } } } }'
    const query = deep.replace(/friends/g, 'friends(first: 10)')
    const fields = { 'Query.users': { listSize: { assumedSize: 10 } } }
    const inProduction = await stage({ preset: 'production', cost: { fields } })
    expect(await text(post(inProduction.endpoint, { query }, CSRF))).toContain(
      '"estimated":111110,"max":100000',
    )
    const inDevelopment = await stage({})
    expect(await text(post(inDevelopment.endpoint, { query }))).toMatch(/^200 .*"data"/)
    const off = await stage({ preset: 'production', cost: { max: 0 } })
    expect(await text(post(off.endpoint, { query }, CSRF))).toMatch(/^200 .*"data"/)
  })

  it('refuses in a moment what grows beyond counting', async () => {
    const { endpoint } = await stage({ cost: { max: 50 } })
    const parts = Array.from(
      { length: 60 },
      (_, i) =>
        `fragment F${i} on User { a: friends(first: $n) { ...F${i + 1} } b: friends(first: $n) { ...F${i + 1} } }`,
    )
    const query = `query ($n: Int) { dear { ...F0 } } ${parts.join(' ')} fragment F60 on User { name }`
    const started = performance.now()
    const answer = await text(post(endpoint, { query, variables: { n: 1_000_000_000 } }))
    expect(answer).toContain('"estimated":null')
    // It would take years.
    expect(performance.now() - started).toBeLessThan(20_000)
  })

  it.each([
    [
      { 'Query.user': {} },
      'cost.fields["Query.user"]: the schema has no such field or type; did you mean "Query.users"',
    ],
    [
      { 'Query.users': { listSize: { slicingArguments: ['limit'] } } },
      '.slicingArguments[0]: the field has no argument limit (available arguments: first, last)',
    ],
    [
      { 'Query.search': { listSize: { slicingArguments: ['page.limit'] } } },
      'the field has no argument page.limit (available arguments: page)',
    ],
    [
      { 'Query.search': { listSize: { slicingArguments: ['page.first'] } } },
      'instead of a list, so listSize has no effect; set sizedFields to the fields of Page that contain the items, for example [items]',
    ],
    [{ 'Query.dear': { listSize: { assumedSize: 5 } } }, 'the field returns one User instead of a list'],
    [{ 'Query.search': { listSize: { sizedFields: ['edges'] } } }, 'sizedFields[0]: Page has no field edges'],
    [{ 'Filter.txt': { weight: 1 } }, 'cost.fields["Filter.txt"]: the schema has no such field'],
    [{ 'Filter.text': { arguments: { a: 1 } } }, 'set only a weight for an input field'],
    [
      { User: { listSize: { assumedSize: 1 } } },
      'cost.fields.User: arguments and listSize apply only to output fields ("Type.field"); set only a weight for a type',
    ],
  ])('says what is wrong with %j', async (fields, message) => {
    await expect(stage({ cost: { max: 1, fields } })).rejects.toThrow(message)
  })

  it('says so of the config, too', () => {
    expect(() => parseConfig({ cost: { max: -1 } })).toThrow(/cost\.max/)
    expect(() => parseConfig({ cost: { fields: { 'Query.users': { weight: 'dear' } } } })).toThrow(
      /cost\.fields.*weight/,
    )
  })
})

describe('cost that is shown', () => {
  it.each(Object.entries(WAYS))('is in the answer over %s, as in the metrics', async (name, ask) => {
    const { endpoint } = await stage({
      cost: { max: 50, fields: FIELDS, includeExtensionMetadata: true },
      responseCache: false,
    })
    const ways = [
      (first: number): Params => ({ query: `query Q { users(first: ${first}) { name } }` }),
      (first: number): Params => ({
        query: 'query Q($first: Int) { users(first: $first) { name } }',
        variables: { first },
      }),
    ]
    for (const params of ways) {
      // What is known of an operation says nothing of the next one's variables.
      for (const first of [1, 2, 50, 2]) {
        const answer = await ask(endpoint, params(first))
        expect(answer).toContain('Ada')
        // Of what comes in parts, or again and again, the first tells.
        expect(answer).toMatch(new RegExp(`"cost":{"estimated":${first},"max":50(,"actual":1)?}`))
      }
      expect(await ask(endpoint, params(51))).toMatch(REFUSED)
    }
    const scraped = await (await fetch(endpoint.replace('/graphql', '/metrics'))).text()
    const read = (line: string): number => Number(scraped.split(`${line} `)[1]?.split('\n')[0])
    const times = name === 'POST, once more' ? 2 : 1
    // The hello in a batch costs nothing; what is asked for by its hash was counted too.
    const counted = read('vinyasa_operation_cost_estimated_sum{result="COST_OK"}')
    expect(counted).toBe(2 * times * (1 + 2 + 50 + 2))
    expect(read('vinyasa_operation_cost_estimated_sum{result="COST_ESTIMATED_TOO_EXPENSIVE"}')).toBe(
      2 * times * 51,
    )
    // Each answer has one user, whatever may come.
    const actual = read('vinyasa_operation_cost_actual_sum{result="COST_OK"}')
    const isAlone = ['POST', 'GET', 'POST, once more'].includes(name)
    expect(actual).toBe(isAlone ? 2 * times * 4 : actual)
  })

  it('is in each event of a subscription, and in a mutation', async () => {
    const { endpoint } = await stage({ cost: { fields: FIELDS, includeExtensionMetadata: true } })
    const query = 'subscription { renamed(first: 3) { name } }'
    expect(await over('')(endpoint, { query })).toContain('"cost":{"estimated":3}')
    expect(await text(post(endpoint, { query: 'mutation { rename { name } }' }))).toContain(
      '"cost":{"estimated":11,"actual":1}',
    )
  })

  it('is of what is executed: an answer from the cache is as it was kept', async () => {
    const { endpoint, asked } = await stage({
      cost: { max: 50, fields: FIELDS, includeExtensionMetadata: true },
    })
    const ask = async (): Promise<[string | null, string]> => {
      const response = await post(endpoint, { query: '{ users(first: 2) { name } }' })
      return [response.headers.get('x-cache'), await response.text()]
    }
    const data = '{"data":{"users":[{"name":"Ada"}]}'
    expect(await ask()).toEqual([
      'MISS',
      `${data.slice(0, -1)}},"extensions":{"cost":{"estimated":2,"max":50,"actual":1}}}`,
    ])
    expect(await ask()).toEqual(['HIT', `${data}}`])
    expect(asked()).toBe(1)
  })
})

async function startItems(onCall: () => void = () => undefined) {
  const backend = await startRestBackend(({ url }) => {
    onCall()
    return {
      json: Array.from({ length: Number(url.searchParams.get('limit')) }, (_, i) => ({ id: String(i) })),
    }
  })
  onTestFinished(() => backend.stop())
  return backend
}

const itemsBehind = (baseUrl: string): GatewayConfig => ({
  rest: {
    shop: {
      baseUrl,
      endpoints: [
        {
          name: 'items',
          path: '/items',
          args: { limit: 'Int!' },
          queryParams: { limit: '{limit}' },
          responseSchema: { typeName: 'Item', fields: { id: 'id!' } },
          returnType: '[Item!]!',
        },
      ],
    },
  },
  cost: {
    max: 20,
    fields: {
      'Query.items': {
        listSize: { slicingArguments: ['limit'], requireOneSlicingArgument: false, assumedSize: 1 },
      },
    },
  },
})

const ITEM_QUERIES: readonly ((limit: number) => Params)[] = [
  (limit) => ({ query: `{ items(limit: ${limit}) { id } }` }),
  (limit) => ({ query: 'query ($n: Int!) { items(limit: $n) { id } }', variables: { n: limit } }),
]

describe('cost of fields that sources give', () => {
  it('is refused before a plan calls a backend, known queries and answers too', async () => {
    let calls = 0
    const backend = await startItems(() => calls++)
    const { endpoint } = await startGateway({ responseCache: true, ...itemsBehind(backend.url) })
    for (const ask of ITEM_QUERIES) {
      for (const limit of [3, 4, 3, 20]) expect(await text(post(endpoint, ask(limit)))).toContain('"id":"2"')
      const before = calls
      for (const limit of [21, 21, 1000]) {
        expect(await text(post(endpoint, ask(limit)))).toContain(`"estimated":${limit},"max":20`)
      }
      expect(calls).toBe(before)
    }
  })

  it.each([true, false, undefined])(
    'is shown alike by plans and without them (plans: %s), known or not',
    async (plans) => {
      const backend = await startItems()
      const { rest, cost } = itemsBehind(backend.url)
      const { endpoint } = await startGateway({
        rest: { shop: { ...rest?.['shop'], ...(plans !== undefined && { plans }) } as never },
        cost: { ...cost, includeExtensionMetadata: true },
      })
      for (const ask of ITEM_QUERIES) {
        for (const limit of [1, 2, 1, 20, 2]) {
          const items = Array.from({ length: limit }, (_, id) => ({ id: String(id) }))
          const answer = {
            data: { items },
            extensions: { cost: { estimated: limit, max: 20, actual: limit } },
          }
          expect(await text(post(endpoint, ask(limit)))).toBe(`200 ${JSON.stringify(answer)}`)
        }
      }
    },
  )
})

it('a mutation that is refused takes nothing out of the cache', async () => {
  let executed = 0
  const { endpoint } = await startGateway({
    typeDefs: 'type Query { hello: Int } type Mutation { change: Int }',
    resolvers: { Query: { hello: () => ++executed }, Mutation: { change: () => 1 } },
    cost: { max: 50, fields: { 'Mutation.change': { weight: 100 } } },
    dependencies: { 'Query.hello': { variesBy: [] } },
    responseCache: true,
  })
  const hello = async () => (await post(endpoint, { query: '{ hello }' })).headers.get('x-cache')
  expect([await hello(), await hello()]).toEqual(['MISS', 'HIT'])
  for (const _time of [1, 2]) {
    const refused = await post(endpoint, { query: 'mutation { change }' })
    expect(await refused.text()).toContain('COST')
    expect(await hello()).toBe('HIT')
  }
})
