import {
  createDisposables,
  createFakeClock,
  startRestBackend,
  waitUntil,
  type RestAnswer,
  type RestHandler,
} from '@vinyasa/test-kit'
import { printType } from 'graphql'
import { createSchema, createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import {
  apiKey,
  bearer,
  createRestConnector,
  field,
  useRestConnector,
  type RestConnectorOptions,
  type RestEndpoint,
} from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const echo: RestHandler = ({ method, rawUrl, headers, body }) => ({
  json: { method, url: rawUrl, headers, body: String(body) },
})

async function serve(options: Partial<RestConnectorOptions>, answer: RestAnswer | RestHandler = echo) {
  const backend = cleanup.use(
    await startRestBackend((request) => (typeof answer === 'function' ? answer(request) : answer)),
  )
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: `${backend.url}/v1`,
      endpoints: [{ name: 'get', path: '/x' }],
      ...options,
    }),
  )
  const schema = createSchema({ typeDefs: 'type Query { ok: Boolean }' })
  const yoga = createYoga({ schema, plugins: [useRestConnector(connector)], logging: false })
  return {
    backend,
    connector,
    execute: (name: string, args = {}): Promise<any> => connector.execute(name, args),
    async ask(query: string, variables?: object): Promise<any> {
      const response = await yoga.fetch('http://yoga/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
      })
      return response.json()
    },
  }
}

const one = (endpoint: Partial<RestEndpoint>): Partial<RestConnectorOptions> => ({
  endpoints: [{ name: 'get', path: '/x', ...endpoint }],
})

describe('REST connector', () => {
  it('base_url: required; base address of all its endpoints', async () => {
    const { execute } = await serve({})
    expect(await execute('get')).toMatchObject({ url: '/v1/x' })
    for (const baseUrl of ['', 'nonsense', '/v1', 'ftp://host', 'http://user:pw@host', 'http://host/?q'])
      expect(() => createRestConnector('c', { baseUrl, endpoints: [] })).toThrow(
        'REST connector "c": baseUrl',
      )
  })
  it('timeout: default for all endpoints', async () => {
    const { execute } = await serve({ timeoutMs: 20, noRetry: true }, { delayMs: 60_000 })
    await expect(execute('get')).rejects.toMatchObject({ extensions: { code: 'TIMEOUT' } })
  })
  it('timeout: default 30 s', async () => {
    const clock = createFakeClock()
    const { execute, backend } = await serve({ clock, noRetry: true }, { delayMs: 60_000 })
    const call = execute('get').catch((error: unknown) => error)
    await waitUntil(() => backend.requests.length === 1)
    await clock.advance(29_999)
    expect(backend.requests[0]?.cancelledAt).toBeUndefined()
    await clock.advance(1)
    expect(await call).toMatchObject({ message: expect.stringContaining('within 30000 ms') })
    expect(clock.pending()).toBe(0)
  })
  it('default_header: name/value pair, repeatable, added to every request', async () => {
    const { execute } = await serve({ defaultHeaders: { 'X-A': '1', 'x-b': ['2', '3'] } })
    expect((await execute('get')).headers).toMatchObject({ 'x-a': '1', 'x-b': '2, 3' })
  })
  it('retry: retry configuration', async () => {
    const { execute, backend } = await serve(
      { retry: { maxRetries: 2, initialBackoffMs: 1 } },
      { status: 500 },
    )
    await expect(execute('get')).rejects.toMatchObject({ extensions: { attempts: 3, status: 500 } })
    expect(backend.requests).toHaveLength(3)
  })
  it('no_retry: disables retries', async () => {
    const { execute, backend } = await serve({ noRetry: true, retry: { maxRetries: 2 } }, { status: 500 })
    await expect(execute('get')).rejects.toThrow('responded with status 500')
    expect(backend.requests).toHaveLength(1)
  })
  it('log_bodies: logs request and response bodies', async () => {
    const lines: unknown[] = []
    const { execute } = await serve({
      logBodies: true,
      logger: { info: (message, details) => lines.push([message, details]) },
      endpoints: [{ name: 'post', path: '/p', method: 'POST' }],
    })
    await execute('post', { a: 1 })
    expect(lines).toEqual([
      ['REST request', { connector: 'c', endpoint: 'post', attempt: 1, method: 'POST', body: '{"a":1}' }],
      [
        'REST response',
        { connector: 'c', endpoint: 'post', attempt: 1, status: 200, body: expect.stringContaining('/v1/p') },
      ],
    ])
  })
  it('cache size: an LRU response cache for GET requests holding up to that many responses', async () => {
    const { execute, backend, connector } = await serve({
      cacheSize: 2,
      ...one({ queryParams: { q: '{q}' } }),
    })
    for (const q of ['a', 'b', 'a', 'c', 'a', 'b']) await execute('get', { q })
    expect(backend.requests.map((request) => request.url.search)).toEqual(['?q=a', '?q=b', '?q=c', '?q=b'])
    expect(connector.stats().cached).toBe(2)
  })
  it('interceptor: can modify every outgoing request', async () => {
    const { execute } = await serve({
      interceptors: [
        (request) => {
          request.headers.set('x-first', '1')
        },
        async (request) => {
          await Promise.resolve()
          request.headers.set('x-second', `${request.headers.get('x-first')}2`)
          request.url.searchParams.set('added', 'yes')
        },
      ],
    })
    expect(await execute('get')).toMatchObject({
      url: '/v1/x?added=yes',
      headers: { 'x-first': '1', 'x-second': '12' },
    })
  })
  it('transformer: converts a response (given the endpoint name) to JSON before it returns to GraphQL', async () => {
    const { ask } = await serve(
      {
        ...one({ responsePath: '$.a' }),
        transformer: ({ status, data, body }, { endpoint }) => ({ endpoint, status, data, body }),
      },
      { json: { a: 1 } },
    )
    expect(await ask('{ get }')).toEqual({
      data: { get: { endpoint: 'get', status: 200, data: 1, body: { a: 1 } } },
    })
  })
  it('endpoints: list of REST endpoints', async () => {
    const { execute } = await serve({
      endpoints: [
        { name: 'a', path: '/a' },
        { name: 'b', path: '/b' },
      ],
    })
    expect([(await execute('a')).url, (await execute('b')).url]).toEqual(['/v1/a', '/v1/b'])
    expect(() =>
      createRestConnector('c', {
        baseUrl: 'http://h',
        endpoints: [
          { name: 'a', path: '' },
          { name: 'a', path: '' },
        ],
      }),
    ).toThrow('REST connector "c": endpoint "a" is declared twice')
  })
  it('several connectors can be registered side by side', async () => {
    const first = await serve({ endpoints: [{ name: 'one', path: '/1' }] })
    const second = await serve({ endpoints: [{ name: 'two', path: '/2' }] })
    const yoga = createYoga({
      plugins: [useRestConnector([first.connector, second.connector])],
      logging: false,
    })
    const response = await yoga.fetch('http://yoga/graphql?query={one two}')
    expect(await response.json()).toMatchObject({ data: { one: { url: '/v1/1' }, two: { url: '/v1/2' } } })
  })
})

describe('REST endpoint', () => {
  it('name: also the GraphQL field name', async () => {
    const { ask } = await serve({ endpoints: [{ name: 'getThing', path: '/x' }] })
    expect(await ask('{ getThing }')).toMatchObject({ data: { getThing: { url: '/v1/x' } } })
    expect(() =>
      createRestConnector('c', { baseUrl: 'http://h', endpoints: [{ name: 'a-b', path: '' }] }),
    ).toThrow('name "a-b" is not a valid GraphQL name')
  })
  it('path: may hold {variable} placeholders', async () => {
    const { execute } = await serve(one({ path: '/a/{x}/b-{y}' }))
    expect(await execute('get', { x: 1, y: 'z/z' })).toMatchObject({ url: '/v1/a/1/b-z%2Fz' })
  })
  it('method: GET, POST, PUT, PATCH, DELETE', async () => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
    const { execute } = await serve({
      endpoints: methods.map((method) => ({ name: method, path: '/x', method })),
    })
    for (const method of methods) expect(await execute(method)).toMatchObject({ method })
  })
  it('method: GET when omitted', async () => {
    const { execute } = await serve({})
    expect(await execute('get')).toMatchObject({ method: 'GET', body: '' })
  })
  it('header: name/value pair, repeatable, endpoint-specific', async () => {
    const { execute } = await serve({
      defaultHeaders: { 'x-a': 'connector', 'x-b': 'connector' },
      ...one({ headers: { 'X-A': 'endpoint', 'x-id': 'v-{id}' } }),
    })
    expect((await execute('get', { id: 7 })).headers).toMatchObject({
      'x-a': 'endpoint',
      'x-b': 'connector',
      'x-id': 'v-7',
    })
    expect((await execute('get')).headers).not.toHaveProperty('x-id')
  })
  it('query_param: name/template pair, repeatable; template may hold {variable}', async () => {
    const { execute } = await serve(one({ queryParams: { a: '{a}', b: 'x-{b}', c: ['1', '2'] } }))
    expect((await execute('get', { a: 0, b: false })).url).toBe('/v1/x?a=0&b=x-false&c=1&c=2')
    expect((await execute('get', { a: null })).url).toBe('/v1/x?c=1&c=2')
  })
  it('query_param: arrays repeated, comma-joined or bracketed', async () => {
    const list = (queryArrayFormat: RestEndpoint['queryArrayFormat']) =>
      serve(one({ queryParams: { a: '{a}' }, queryArrayFormat })).then(({ execute }) =>
        execute('get', { a: ['1', '2&'] }),
      )
    expect((await list(undefined)).url).toBe('/v1/x?a=1&a=2%26')
    expect((await list('comma')).url).toBe('/v1/x?a=1,2%26')
    expect((await list('brackets')).url).toBe('/v1/x?a%5B%5D=1&a%5B%5D=2%26')
  })
  it('body_template: for POST, PUT, PATCH; may hold {variable}', async () => {
    const bodyTemplate = '{"name": "{name}", "tags": {tags}, "n": "{n}"}'
    const methods = ['POST', 'PUT', 'PATCH'] as const
    const { execute } = await serve({
      endpoints: methods.map((method) => ({ name: method, path: '/x', method, bodyTemplate })),
    })
    for (const method of methods)
      expect(JSON.parse((await execute(method, { name: 'a "b"', tags: [1, { x: null }] })).body)).toEqual({
        name: 'a "b"',
        tags: [1, { x: null }],
        n: null,
      })
    expect(() =>
      createRestConnector('c', { baseUrl: 'http://h', ...one({ bodyTemplate }) } as RestConnectorOptions),
    ).toThrow('endpoint "get": a GET request cannot have a body')
    const broken = one({ method: 'POST', bodyTemplate: '{"a": {a}' })
    expect(() =>
      createRestConnector('c', { baseUrl: 'http://h', ...broken } as RestConnectorOptions),
    ).toThrow('endpoint "get": bodyTemplate is not valid JSON after its variables are replaced')
  })
  it('response_path: JSONPath subset', async () => {
    const json = { data: { items: [{ id: 1 }] } }
    const { execute } = await serve(one({ responsePath: '$.data.items[0]' }), { json })
    expect(await execute('get')).toEqual({ id: 1 })
  })
  it('timeout: overrides the connector timeout', async () => {
    const { execute } = await serve(
      { timeoutMs: 60_000, noRetry: true, ...one({ timeoutMs: 20 }) },
      { delayMs: 60_000 },
    )
    await expect(execute('get')).rejects.toThrow('did not respond within 20 ms')
  })
  it('description: of the GraphQL field', async () => {
    const { connector } = await serve(one({ description: 'Says "x"\nand \\y' }))
    expect(connector.schema.getQueryType()?.getFields()['get']?.description).toBe('Says "x"\nand \\y')
  })
  it('return_type: name of the returned type', async () => {
    const { connector, ask } = await serve(
      {
        endpoints: [
          { name: 'get', path: '/x', responseSchema: { typeName: 'Thing', fields: { id: 'id!' } } },
          { name: 'list', path: '/l', returnType: '[Thing!]!' },
        ],
      },
      ({ rawUrl }) => ({ json: rawUrl.endsWith('l') ? [{ id: 1 }] : { id: 2 } }),
    )
    expect(String(connector.schema.getQueryType()?.getFields()['list']?.type)).toBe('[Thing!]!')
    expect(await ask('{ get { id } list { id } }')).toEqual({
      data: { get: { id: '2' }, list: [{ id: '1' }] },
    })
  })
  it('response schema: typed response', async () => {
    const { connector } = await serve(
      one({ responseSchema: { typeName: 'Thing', description: 'D', fields: { a: field.int } } }),
    )
    expect(printType(connector.schema.getType('Thing') as never)).toBe('"""D"""\ntype Thing {\n  a: Int\n}')
  })
  it('as_query: forces the endpoint into the Query type', async () => {
    const { ask, connector } = await serve(one({ method: 'POST', asQuery: true, args: { q: 'String' } }))
    expect(await ask('{ get(q: "a") }')).toMatchObject({
      data: { get: { method: 'POST', body: '{"q":"a"}' } },
    })
    expect(connector.schema.getMutationType()).toBeUndefined()
  })
})

const everyKind = {
  int: field.int,
  string: field.string.describe('text'),
  float: field.float,
  boolean: field.boolean,
  id: field.id.required,
  long: field.long,
  json: field.json,
  object: field.object('Inner', { a: field.int }),
  list: field.list(field.list(field.string.required)).required,
  objects: field.list(field.object('Inner').required),
  renamed: field.string.from('snake-case'),
  constructor: field.string,
}

describe('REST response schema', () => {
  it('a type name plus fields of every kind', async () => {
    const { connector, ask } = await serve(one({ responseSchema: { typeName: 'All', fields: everyKind } }), {
      headers: { 'content-type': 'application/json' },
      body:
        '{"int":1,"string":"s","float":1.5,"boolean":true,"id":7,"long":9223372036854775807,"json":{"a":[1]},' +
        '"object":{"a":2},"list":[["x"]],"objects":[{"a":3}],"snake-case":"r"}',
    })
    expect(printType(connector.schema.getType('All') as never)).toMatchInlineSnapshot(`
      "type All {
        int: Int

        """text"""
        string: String
        float: Float
        boolean: Boolean
        id: ID!
        long: Long
        json: JSON
        object: Inner
        list: [[String!]]!
        objects: [Inner!]
        renamed: String
        constructor: String
      }"
    `)
    expect(
      await ask(
        '{ get { int string float boolean id long json object { a } list objects { a } renamed constructor } }',
      ),
    ).toEqual({
      data: {
        get: {
          int: 1,
          string: 's',
          float: 1.5,
          boolean: true,
          id: '7',
          long: '9223372036854775807',
          json: { a: [1] },
          object: { a: 2 },
          list: [['x']],
          objects: [{ a: 3 }],
          renamed: 'r',
          constructor: null,
        },
      },
    })
  })
  it('an int that does not fit 32 bits is an error that names the field and the fix', async () => {
    const { ask } = await serve(one({ responseSchema: { typeName: 'T', fields: { n: 'int' } } }), {
      json: { n: 2 ** 31 },
    })
    const { errors } = await ask('{ get { n } }')
    expect(errors[0].message).toBe('T.n is an integer that exceeds 32 bits; declare the field as long.')
    expect(errors[0].extensions.code).toBe('REST_BAD_RESPONSE')
  })
  it('a scalar that is an object is an error that does not quote it', async () => {
    const { ask } = await serve(
      one({ responseSchema: { typeName: 'T', fields: { s: 'string', l: '[id]', ok: 'string' } } }),
      { json: { s: { hidden: 'c4n4ry' }, l: ['1', { hidden: 'c4n4ry' }], ok: 'ok' } },
    )
    const result = await ask('{ get { s l ok } }')
    expect(result.data).toEqual({ get: { s: null, l: null, ok: 'ok' } })
    expect(result.errors.map((error: any) => error.message)).toEqual([
      'T.s is declared as String, but the upstream sent an object.',
      'T.l is declared as [ID], but the upstream sent an object.',
    ])
    expect(JSON.stringify(result)).not.toContain('c4n4ry')
  })
  it('two endpoints may share a type, and their fields are united', async () => {
    const { connector } = await serve({
      endpoints: [
        { name: 'a', path: '/a', responseSchema: { typeName: 'T', fields: { x: 'int', y: 'int' } } },
        { name: 'b', path: '/b', responseSchema: { typeName: 'T', fields: { y: 'Int', z: 'string' } } },
      ],
    })
    expect(printType(connector.schema.getType('T') as never)).toBe(
      'type T {\n  x: Int\n  y: Int\n  z: String\n}',
    )
    const clash: RestEndpoint[] = [
      { name: 'a', path: '/a', responseSchema: { typeName: 'T', fields: { x: 'int' } } },
      { name: 'b', path: '/b', responseSchema: { typeName: 'T', fields: { x: 'string' } } },
    ]
    expect(() => createRestConnector('c', { baseUrl: 'http://h', endpoints: clash })).toThrow(
      'field T.x is declared as Int by rest connector "c": GET /a (endpoint a) and as String by rest connector "c": GET /b (endpoint b); use the same type in both',
    )
  })
  it('a long argument goes out with all its digits', async () => {
    const { ask } = await serve(
      one({
        method: 'POST',
        asQuery: true,
        path: '/{id}',
        bodyTemplate: '{"id": {id}}',
        args: { id: 'Long!' },
      }),
    )
    const { data } = await ask('query ($id: Long!) { get(id: $id) }', { id: '9223372036854775807' })
    expect(data.get).toMatchObject({ url: '/v1/9223372036854775807', body: '{"id": 9223372036854775807}' })
    const { errors } = await ask('{ get(id: 9223372036854775808) }')
    expect(errors[0].message).toContain('Long must be an exact integer from -2^63 to 2^63-1')
  })
  it('a list where one value is declared, and the other way round, is REST_BAD_RESPONSE', async () => {
    const { ask } = await serve(
      {
        endpoints: [
          { name: 'one', path: '/1', responseSchema: { typeName: 'T', fields: { a: 'int' } } },
          { name: 'many', path: '/2', returnType: '[T]' },
        ],
      },
      ({ rawUrl }) => ({ json: rawUrl.endsWith('1') ? [{ a: 1 }] : { a: 1 } }),
    )
    const { errors } = await ask('{ one { a } many { a } }')
    expect(errors.map((error: any) => [error.path[0], error.extensions.code]).sort()).toEqual([
      ['many', 'REST_BAD_RESPONSE'],
      ['one', 'REST_BAD_RESPONSE'],
    ])
  })
})

describe('GraphQL fields derived from REST endpoints', () => {
  it('Field name: equals the endpoint name', async () => {
    const { connector } = await serve(one({ name: 'myName' }))
    expect(Object.keys(connector.schema.getQueryType()?.getFields() ?? {})).toEqual(['myName'])
  })
  it('GET endpoint: Query field; POST, PUT, PATCH, DELETE endpoint: Mutation field', async () => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
    const { connector } = await serve({
      endpoints: methods.map((method) => ({ name: method, path: '/', method })),
    })
    expect(Object.keys(connector.schema.getQueryType()?.getFields() ?? {})).toEqual(['GET'])
    expect(Object.keys(connector.schema.getMutationType()?.getFields() ?? {})).toEqual([
      'POST',
      'PUT',
      'PATCH',
      'DELETE',
    ])
  })
  it('as_query set: field is placed in Query whatever the method', async () => {
    const methods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const
    const { connector } = await serve({
      endpoints: methods.map((method) => ({ name: method, path: '/', method, asQuery: true })),
    })
    expect(Object.keys(connector.schema.getQueryType()?.getFields() ?? {})).toEqual([...methods])
  })
  it('Arguments: fill the {variable} placeholders of path, query parameters and body template', async () => {
    const { ask, connector } = await serve(
      one({
        method: 'PUT',
        path: '/{p}',
        queryParams: { q: '{q}' },
        headers: { h: '{h}' },
        bodyTemplate: '"{b}"',
      }),
    )
    const { args = [] } = connector.schema.getMutationType()?.getFields()['get'] ?? {}
    expect(args.map(({ name, type }) => `${name}: ${String(type)}`)).toEqual([
      'p: String!',
      'q: String',
      'h: String',
      'b: String',
    ])
    expect(await ask('mutation { get(p: "1", q: "2", h: "3", b: "4") }')).toMatchObject({
      data: { get: { url: '/v1/1?q=2', headers: { h: '3' }, body: '"4"' } },
    })
  })
  it('Body: without a body_template the arguments are serialised as a JSON body', async () => {
    const { ask } = await serve(one({ method: 'POST', args: { a: 'Int', b: '[String]', c: 'JSON' } }))
    const { data } = await ask('mutation { get(a: 1, b: ["x"], c: { d: null }) }')
    expect(data.get).toMatchObject({
      headers: { 'content-type': 'application/json' },
      body: '{"a":1,"b":["x"],"c":{"d":null}}',
    })
  })
  it('Return type: the JSON scalar with the full response structure', async () => {
    const { ask } = await serve({}, { json: [{ deep: { er: [null, 1.5, 'x'] } }] })
    expect(await ask('{ get }')).toEqual({ data: { get: [{ deep: { er: [null, 1.5, 'x'] } }] } })
  })
  it('Return type: with a response schema, an object type of the schema’s name, so clients can select its fields', async () => {
    const { ask } = await serve(one({ responseSchema: { typeName: 'T', fields: { a: 'int', b: 'int' } } }), {
      json: { a: 1, b: 2 },
    })
    expect(await ask('{ get { __typename b } }')).toEqual({ data: { get: { __typename: 'T', b: 2 } } })
  })
  it('response_path: nothing there gives null, with no error', async () => {
    const { ask } = await serve(one({ responsePath: '$.no[3].such' }), { json: { a: 1 } })
    expect(await ask('{ get }')).toEqual({ data: { get: null } })
  })
  it('Cache: GET responses are keyed by endpoint name and arguments, and can be cleared programmatically', async () => {
    const { execute, backend, connector } = await serve({
      cacheSize: 10,
      endpoints: [
        { name: 'a', path: '/a', queryParams: { x: '{x}', y: '{y}' } },
        { name: 'b', path: '/a', queryParams: { x: '{x}', y: '{y}' } },
      ],
    })
    await execute('a', { x: '1', y: '2' })
    await execute('a', { y: '2', x: '1' })
    expect(backend.requests).toHaveLength(1)
    await execute('b', { x: '1', y: '2' })
    expect(backend.requests).toHaveLength(2)
    connector.clearCache()
    await execute('a', { x: '1', y: '2' })
    expect(backend.requests).toHaveLength(3)
    expect(connector.stats()).toMatchObject({
      calls: 4,
      requests: 3,
      cacheHits: 1,
      cacheMisses: 3,
      cached: 1,
    })
  })
  it('Programmatic execution: a connector executes a named endpoint with a map of arguments and returns the JSON result', async () => {
    const { connector } = await serve({ endpoints: [{ name: 'getUser', path: '/users/{id}' }] })
    expect(await connector.execute('getUser', { id: 1 })).toMatchObject({ url: '/v1/users/1' })
    await expect(connector.execute('nope')).rejects.toMatchObject({
      message: 'REST connector "c" has no endpoint "nope"; its endpoints are getUser.',
      extensions: { code: 'BAD_USER_INPUT' },
    })
  })
})

describe('Outbound authentication', () => {
  it('Bearer: adds header Authorization: Bearer <ACCESS_TOKEN>', async () => {
    const { execute } = await serve({ interceptors: [bearer('t0ken')] })
    expect((await execute('get')).headers.authorization).toBe('Bearer t0ken')
    const fromEnv = await serve({ interceptors: [bearer({ env: 'TOKEN' }, { env: { TOKEN: 'e' } })] })
    expect((await fromEnv.execute('get')).headers.authorization).toBe('Bearer e')
    expect(() => bearer({ env: 'TOKEN' }, { env: {} })).toThrow(
      'environment variable TOKEN is missing or empty',
    )
    let calls = 0
    const fresh = await serve({ interceptors: [bearer(() => `t${++calls}`)] })
    expect([
      (await fresh.execute('get')).headers.authorization,
      (await fresh.execute('get')).headers.authorization,
    ]).toEqual(['Bearer t1', 'Bearer t2'])
  })
  it('API key: adds header X-API-Key: <API_KEY>', async () => {
    const { execute } = await serve({ interceptors: [apiKey('k')] })
    expect((await execute('get')).headers['x-api-key']).toBe('k')
    const other = await serve({ interceptors: [apiKey('k', { header: 'X-Other' })] })
    expect((await other.execute('get')).headers['x-other']).toBe('k')
  })
  it('Custom: may add headers or modify the URL; may fail the request', async () => {
    const { execute, backend } = await serve({
      interceptors: [
        ({ url, headers }, { args, endpoint, attempt }) => {
          headers.set('x-custom-auth', `${endpoint}#${attempt}`)
          if (args['id'] === 'bad') throw new Error('secret reason')
          url.pathname += '/more'
        },
      ],
      ...one({ path: '/{id}' }),
    })
    expect(await execute('get', { id: 'ok' })).toMatchObject({
      url: '/v1/ok/more',
      headers: { 'x-custom-auth': 'get#1' },
    })
    await expect(execute('get', { id: 'bad' })).rejects.toMatchObject({
      message: 'The request to the upstream could not be prepared.',
      extensions: { code: 'INTERNAL_SERVER_ERROR', connector: 'c', endpoint: 'get' },
    })
    expect(backend.requests).toHaveLength(1)
  })
})
