import { createDisposables, startRestBackend, type RecordedRequest, type RestAnswer } from '@vinyasa/test-kit'
import { afterAll, describe, expect, it } from 'vitest'
import { createRestConnector, importOpenApi, type OpenApiOptions } from '../../src/index.ts'

const cleanup = createDisposables()
afterAll(() => cleanup.dispose())
/** What is answered next, instead of an object. */
const answers: RestAnswer[] = []
/** What calls gave. */
const given: unknown[] = []
const backend = cleanup.use(await startRestBackend(() => answers.shift() ?? { json: {} }))

const responses = { 200: { description: 'ok' } }
const string = { type: 'string' }

function documentOf(operation: object, more: object = {}, method = 'post', path = '/x'): object {
  return {
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    paths: { [path]: { [method]: { operationId: 'x', responses, ...operation } } },
    ...more,
  }
}

async function sent(
  document: object,
  args: Readonly<Record<string, unknown>>,
  options: OpenApiOptions = {},
  context?: unknown,
): Promise<RecordedRequest> {
  const { baseUrl, endpoints, types, interceptors, forwardHeaders } = await importOpenApi(document, {
    source: 'shop',
    baseUrl: backend.url,
    env: {},
    ...options,
  })
  const connector = createRestConnector('shop', {
    baseUrl: baseUrl ?? backend.url,
    endpoints,
    types,
    interceptors,
    forwardHeaders,
  })
  given.push(await connector.execute('x', args, { context }))
  await connector.close()
  return backend.requests.at(-1) as RecordedRequest
}

describe('parameters of a document', () => {
  it('are sent in their styles, from arguments with names that GraphQL allows', async () => {
    const list = { type: 'array', items: string }
    const object = { type: 'object', properties: { 'sort-by': string, c: list } }
    const parameters = [
      { name: 'item-id', in: 'path', required: true, style: 'label', schema: string },
      { name: 'filter', in: 'query', style: 'deepObject', schema: object },
      { name: 'tags', in: 'query', style: 'pipeDelimited', schema: list },
      { name: 'ids', in: 'query', explode: false, schema: list },
      { name: 'per_page', in: 'query', schema: { type: 'integer', maximum: 100 } },
      { name: 'q', in: 'query', content: { 'application/json': { schema: object } } },
      { name: 'next', in: 'query', allowReserved: true, schema: string },
      { name: 'session', in: 'cookie', schema: string },
      { name: 'X-Ids', in: 'header', schema: list },
      { name: 'wrong', in: 'query', style: 'simple', schema: string },
      { name: 'nowhere', in: 'path', required: true, schema: string },
    ]
    const { rawUrl, headers } = await sent(documentOf({ parameters }, {}, 'get', '/x/{item-id}'), {
      itemId: '7',
      filter: { sortBy: '1', c: ['2', '3'] },
      tags: ['a', 'b'],
      ids: ['a,b', 'c'],
      per_page: 10,
      q: { sortBy: '1' },
      next: '/a?b',
      session: 's 1',
      xIds: ['1', '2'],
      wrong: 'w',
    })
    expect(rawUrl.split(/[?&]/)).toEqual([
      '/x/.7',
      'filter%5Bsort-by%5D=1',
      'filter%5Bc%5D%5B%5D=2',
      'filter%5Bc%5D%5B%5D=3',
      'tags=a%7Cb',
      'ids=a%2Cb,c',
      'per_page=10',
      'q=%7B%22sort-by%22%3A%221%22%7D',
      'next=/a',
      'b',
      'wrong=w',
    ])
    expect([headers['cookie'], headers['x-ids']]).toEqual(['session=s%201', '1,2'])
  })
})

describe('braces of a path', () => {
  const decorations = [
    '{id}',
    '{id+}',
    '{id*}',
    '{*id}',
    '{**id}',
    '{id:int}',
    '{id:[a-z]+}',
    '{ id }',
    '{id?}',
  ]

  it.each(decorations)('%s is the parameter, described or not', async (braces) => {
    const path = `/x/${braces}:go`
    for (const parameters of [[{ name: 'id', in: 'path', required: true, schema: string }], []]) {
      const document = documentOf({ parameters }, {}, 'get', path)
      expect((await importOpenApi(document)).findings.filter(({ place }) => place !== '#/servers')).toEqual(
        [],
      )
      expect((await sent(document, { id: 'a/b' })).rawUrl).toBe('/x/a%2Fb:go')
    }
  })

  it.each(['id+', 'id:int', '*id'])(
    '{%s} is the parameter of that very name where there is one',
    async (name) => {
      const parameters = ['id', name].map((one) => ({
        name: one,
        in: 'path',
        required: true,
        schema: string,
      }))
      const document = documentOf({ parameters }, {}, 'get', `/x/{id}/{${name}}`)
      const [endpoint] = (await importOpenApi(document)).endpoints
      const other = Object.keys(endpoint?.args ?? {}).find((arg) => arg !== 'id') as string
      expect((await sent(document, { id: '1', [other]: '2' })).rawUrl).toBe('/x/1/2')
    },
  )
})

describe('a variable of a path that is no name', () => {
  it.each([
    ['api-version', 'apiVersion'],
    ['b.c', 'bc'],
    ['2nd', '_2nd'],
  ])('{%s} is the argument %s, described or not', async (name, arg) => {
    for (const parameters of [[{ name, in: 'path', required: true, schema: string }], []]) {
      const document = documentOf({ parameters }, {}, 'get', `/x/{id}/{${name}}`)
      const { endpoints, findings } = await importOpenApi(document, { baseUrl: backend.url })
      expect(findings).toEqual([])
      expect(Object.keys(endpoints[0]?.args ?? {})).toContain(arg)
      expect((await sent(document, { id: '1', [arg]: 'a/b' })).rawUrl).toBe('/x/1/a%2Fb')
    }
  })
})

describe('the whole query as one parameter', () => {
  const form = (properties: object, more = {}) => ({
    name: 'q',
    in: 'querystring',
    content: { 'application/x-www-form-urlencoded': { schema: { type: 'object', properties } } },
    ...more,
  })

  it('is written as the form that it is', async () => {
    const parameters = [form({ 'sort-by': string, n: { type: 'integer' } })]
    const { rawUrl } = await sent(documentOf({ parameters }, {}, 'get'), { q: { sortBy: 'a b&c', n: 1 } })
    expect(rawUrl).toBe('/x?sort-by=a%20b%26c&n=1')
  })

  it.each([true, false])('of another kind is told (required: %s)', async (required) => {
    const parameter = { ...form({}), required, content: { 'application/json': { schema: string } } }
    const { endpoints, findings } = await importOpenApi(documentOf({ parameters: [parameter] }, {}, 'get'))
    expect(endpoints).toHaveLength(required ? 0 : 1)
    expect(findings).toMatchObject([
      { message: expect.stringContaining('the parameter "q" is in "querystring"') },
    ])
  })
})

describe('the body of a document', () => {
  const schema = {
    type: 'object',
    properties: {
      name: string,
      items: { type: 'array', items: { type: 'object', properties: { price: string } } },
    },
  }
  const bodyOf = (content: object, required = true) => documentOf({ requestBody: { required, content } })

  it.each([
    [{ 'application/json': { schema } }, 'application/json', '{"name":"n"}'],
    [{ '*/*': { schema } }, 'application/json', '{"name":"n"}'],
    [{ 'application/merge-patch+json': { schema } }, 'application/merge-patch+json', '{"name":"n"}'],
    [
      { 'application/xml': { schema }, 'application/vnd.api+json': { schema } },
      'application/vnd.api+json',
      '{"name":"n"}',
    ],
    [{ 'application/x-www-form-urlencoded': { schema } }, 'application/x-www-form-urlencoded', 'name=n'],
  ])('%j is sent as %s', async (content, contentType, body) => {
    const request = await sent(bodyOf(content), { input: { name: 'n' } })
    expect([request.headers['content-type'], String(request.body)]).toEqual([contentType, body])
    const { endpoints } = await importOpenApi(bodyOf(content))
    expect(endpoints[0]?.args).toMatchObject({ input: { type: 'XInput!' } })
  })

  it('is a form whose objects are JSON text, which is told where the document does not say so', async () => {
    const object = { type: 'object', properties: { a: string } }
    const properties = {
      told: object,
      items: { type: 'array', items: object },
      map: { type: 'object', additionalProperties: string },
      deep: object,
      json: object,
      text: string,
      texts: { type: 'array', items: string },
    }
    const encoding = { deep: { style: 'deepObject' }, json: { contentType: 'application/json' } }
    const form = { schema: { type: 'object', properties }, encoding }
    const document = bodyOf({ 'application/x-www-form-urlencoded': form })
    const { findings } = await importOpenApi(document, { baseUrl: backend.url })
    expect(findings).toMatchObject([
      {
        place: '#/paths/~1x/post',
        message: expect.stringContaining('"told", "items", "map"'),
        fix: expect.stringContaining('deepObject'),
      },
    ])
    const { body } = await sent(document, { input: { told: { a: '1' }, deep: { a: '2' }, json: { a: '3' } } })
    expect(Object.fromEntries(new URLSearchParams(body.toString()))).toEqual({
      told: '{"a":"1"}',
      'deep[a]': '2',
      json: '{"a":"3"}',
    })
  })

  it('that nobody can write is told where the operation can be called without', async () => {
    const document = documentOf({ requestBody: { content: { 'image/*': { schema: {} } } } })
    const { endpoints, findings } = await importOpenApi(document, { baseUrl: backend.url })
    expect(endpoints).toHaveLength(1)
    expect(findings).toMatchObject([{ message: expect.stringContaining('the request body (image/*)') }])
  })

  it('is a form with objects, as the encoding says', async () => {
    const encoding = { items: { style: 'deepObject', explode: true } }
    const { body } = await sent(bodyOf({ 'application/x-www-form-urlencoded': { schema, encoding } }), {
      input: { items: [{ price: 'a b' }] },
    })
    expect(String(body)).toBe('items%5B0%5D%5Bprice%5D=a+b')
  })

  it('is text, bytes, or parts with files', async () => {
    expect(String((await sent(bodyOf({ 'text/plain': {} }), { input: 'a "b"' })).body)).toBe('a "b"')
    const file = new File(['bytes'], 'a.bin')
    expect(String((await sent(bodyOf({ 'image/png': {} }), { input: file })).body)).toBe('bytes')
    const form = { type: 'object', properties: { cover: { type: 'string', format: 'binary' }, name: string } }
    const document = bodyOf({ 'multipart/form-data': { schema: form } })
    const { endpoints, types } = await importOpenApi(document)
    expect([endpoints[0]?.args, types]).toMatchObject([
      { input: { type: 'XInput!' } },
      { XInput: { fields: { cover: { type: 'Upload' }, name: { type: 'String' } } } },
    ])
    const { body, headers } = await sent(document, { input: { cover: file, name: 'n' } })
    expect(headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
    expect(String(body)).toMatch(/name="cover"; filename="a.bin"[\s\S]*bytes[\s\S]*name="name"\r\n\r\nn\r\n/)
  })

  it.each([
    'application/xml',
    'text/xml',
    'image/svg+xml',
    'application/yaml',
    'application/x-yaml',
    'application/vnd.oai.openapi+yaml',
    'application/x-ndjson',
    'application/jsonl',
    'application/json-seq',
    'application/geo+json-seq',
    'text/csv; charset=utf-8',
    'application/sql',
  ])('%s is text, in and out, and asked for', async (mediaType) => {
    const content = { [mediaType]: { schema } }
    const document = documentOf({
      requestBody: { required: true, content },
      responses: { 200: { description: 'ok', content } },
    })
    const { endpoints } = await importOpenApi(document)
    expect(endpoints).toMatchObject([{ returnType: 'String', args: { input: { type: 'String!' } } }])
    const text = '<a>\u00ff</a>\n{"b":1}\n'
    answers.push({ headers: { 'content-type': mediaType }, body: text })
    const request = await sent(document, { input: text })
    expect([String(request.body), request.headers['content-type'], request.headers['accept']]).toEqual([
      text,
      mediaType,
      `${mediaType}, */*;q=0.5`,
    ])
    expect(given.at(-1)).toBe(text)
    const file = new File([text], 'a.txt')
    expect(String((await sent(document, { input: file })).body)).toBe(text)
  })

  it.each<[object, string, string]>([
    [{ 'application/json': { schema } }, 'X', 'application/json, */*;q=0.5'],
    [{ '*/*': {}, 'application/json': { schema } }, 'X', 'application/json, */*;q=0.5'],
    [
      { 'application/pdf': {}, 'application/json; charset=utf-8': { schema } },
      'X',
      'application/json, */*;q=0.5',
    ],
    [{ 'application/vnd.api+json': { schema } }, 'X', 'application/vnd.api+json, */*;q=0.5'],
    [{ 'application/vnd.a;v=1+json': { schema } }, 'X', 'application/vnd.a;v=1+json, */*;q=0.5'],
    [{ 'image/png': {}, 'image/*': {} }, 'String', 'image/png, image/*, */*;q=0.5'],
    [{ 'no type {x}': {} }, 'String', 'application/json, */*;q=0.5'],
  ])('an answer of %j is %s, asked for as %s', async (content, returnType, accept) => {
    const document = documentOf({ responses: { 200: { description: 'ok', content } } })
    expect((await sent(document, {})).headers['accept']).toBe(accept)
    const { endpoints, types } = await importOpenApi(document)
    expect(endpoints).toMatchObject([{ returnType }])
    const defaultHeaders = { Accept: 'text/x-own' }
    const own = createRestConnector('shop', { baseUrl: backend.url, defaultHeaders, endpoints, types })
    await own.execute('x').catch(() => undefined)
    await own.close()
    expect(backend.requests.at(-1)?.headers['accept']).toBe('text/x-own')
  })

  it.each([{ format: 'byte' }, { format: 'base64' }, { contentEncoding: 'base64' }])(
    'bytes that the document wants in base64 are sent so: %j',
    async (how) => {
      const document = bodyOf({ 'image/png': { schema: { type: 'string', ...how } } })
      for (const input of [new File(['by\u00ff'], 'a.png'), Buffer.from('by\u00ff').toString('base64url')]) {
        const { body, headers } = await sent(document, { input })
        expect([String(body), headers['content-type']]).toEqual([
          Buffer.from('by\u00ff').toString('base64'),
          'image/png',
        ])
      }
    },
  )

  it('is not sent where it is optional and absent, nor where there is none', async () => {
    for (const document of [bodyOf({ 'application/json': { schema } }, false), documentOf({})]) {
      const { body, headers } = await sent(document, {})
      expect([body.length, headers['content-type']]).toEqual([0, undefined])
    }
  })

  it('leaves an operation out by name where nobody can write it', async () => {
    const { endpoints, findings } = await importOpenApi(bodyOf({ 'image/*': { schema } }))
    expect(endpoints).toEqual([])
    expect(findings).toMatchObject([
      { place: '#/paths/~1x/post', message: expect.stringContaining('image/*') },
    ])
  })
})

describe('security of a document', () => {
  const schemes = {
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    query: { type: 'apiKey', in: 'query', name: 'api key' },
    cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
    basic: { type: 'http', scheme: 'basic' },
    bearer: { type: 'http', scheme: 'Bearer' },
    oidc: { type: 'openIdConnect', openIdConnectUrl: 'https://x' },
    person: { type: 'oauth2', flows: { implicit: { authorizationUrl: 'https://x', scopes: {} } } },
    digest: { type: 'http', scheme: 'digest' },
    tls: { type: 'mutualTLS' },
  }
  const secured = (security: readonly object[], operation: object = {}) =>
    documentOf(
      {
        parameters: [{ name: 'a', in: 'query', explode: false, schema: { type: 'array', items: string } }],
        ...operation,
      },
      { security, components: { securitySchemes: schemes } },
      'get',
    )
  const env = {
    SHOP_API_KEY: 'k',
    SHOP_API_KEY_KEY: 'k1',
    SHOP_API_KEY_QUERY: 'k 2',
    SHOP_API_KEY_COOKIE: 'k;3',
    SHOP_USER: 'u',
    SHOP_PASSWORD: 'p:w',
    SHOP_TOKEN: 't',
  }
  const shown = ({ rawUrl, headers }: RecordedRequest) => ({
    rawUrl,
    key: headers['x-key'],
    cookie: headers['cookie'],
    authorization: headers['authorization'],
  })
  const none = { rawUrl: '/x?a=1%2C,2', key: undefined, cookie: undefined, authorization: undefined }
  const args = { a: ['1,', '2'] }

  it.each([
    ['key', { ...none, key: 'k' }],
    ['query', { ...none, rawUrl: '/x?a=1%2C,2&api%20key=k' }],
    ['cookie', { ...none, cookie: 'sid=k' }],
    ['basic', { ...none, authorization: `Basic ${btoa('u:p:w')}` }],
    ['bearer', { ...none, authorization: 'Bearer t' }],
    ['oidc', { ...none, authorization: 'Bearer t' }],
    ['person', { ...none, authorization: 'Bearer t' }],
    ['digest', none],
    ['tls', none],
  ])('%s, from the environment', async (name, expected) => {
    expect(shown(await sent(secured([{ [name]: [] }]), args, { env }))).toEqual(expected)
  })

  it('meets the first requirement whose credentials are all there, the operation before the document', async () => {
    const either = [{ key: [], query: [] }, { bearer: [] }]
    const both = await sent(secured(either), args, { env })
    expect(shown(both)).toEqual({ ...none, key: 'k1', rawUrl: '/x?a=1%2C,2&api%20key=k%202' })
    const some = await sent(secured(either), args, { env: { ...env, SHOP_API_KEY_QUERY: undefined } })
    expect(shown(some)).toEqual({ ...none, authorization: 'Bearer t' })
    expect(shown(await sent(secured(either), args))).toEqual(none)
    expect(shown(await sent(secured(either, { security: [] }), args, { env }))).toEqual(none)
    for (const optional of [
      [{}, ...either],
      [...either, {}],
    ]) {
      expect(shown(await sent(secured(optional), args, { env }))).toEqual(shown(both))
      expect(shown(await sent(secured(optional), args))).toEqual(none)
    }
    expect(shown(await sent(secured(either), args, { env, security: false }))).toEqual(none)
  })

  it.each(['X API Key', '', 'x:key', 'schlüssel'])(
    'lists a key in a header that has no name: "%s"',
    async (header) => {
      const schemes = { odd: { type: 'apiKey', in: 'header', name: header } }
      const document = secured([{ odd: [] }])
      const { findings, interceptors } = await importOpenApi(
        { ...document, components: { securitySchemes: schemes } },
        { source: 'shop', env: { SHOP_API_KEY: 'k' } },
      )
      expect(interceptors).toEqual([])
      expect(findings.map(({ place, message }) => `${place} ${message}`)).toEqual([
        `#/components/securitySchemes/odd the credentials of this scheme are not sent: "${header}" is not a valid header name`,
      ])
    },
  )

  it('tells which variables it wants, which are set, and which schemes it cannot serve', async () => {
    const requirements = [{ key: [] }, { cookie: [] }, { digest: [] }, { nobody: [] }]
    const { variables, findings } = await importOpenApi(secured(requirements), {
      source: 'my-shop2Go',
      env: { MY_SHOP2_GO_API_KEY_KEY: 'k' },
    })
    expect(variables).toEqual([
      { variable: 'MY_SHOP2_GO_API_KEY_KEY', schemes: ['key'], isSet: true, isMissed: false },
      { variable: 'MY_SHOP2_GO_API_KEY_COOKIE', schemes: ['cookie'], isSet: false, isMissed: false },
    ])
    expect(findings.map(({ place, message }) => `${place} ${message}`)).toEqual([
      '#/components/securitySchemes/digest the credentials of this scheme are not sent: the HTTP scheme must be basic or bearer, got "digest"',
      '#/components/securitySchemes/nobody the credentials of this scheme are not sent: the document does not define this security scheme',
    ])
  })

  it.each<[string, readonly object[], readonly string[], readonly string[]]>([
    ['nothing is set', [{ bearer: [] }, { basic: [] }], [], ['SHOP_TOKEN', 'SHOP_USER', 'SHOP_PASSWORD']],
    ['one of two is', [{ bearer: [] }, { basic: [] }], ['SHOP_TOKEN'], []],
    ['half of one is', [{ basic: [] }], ['SHOP_USER'], ['SHOP_PASSWORD']],
    ['both are needed', [{ bearer: [], key: [] }], ['SHOP_TOKEN'], ['SHOP_API_KEY']],
    ['it is optional', [{}, { bearer: [] }], [], ['SHOP_TOKEN']],
    ['two take one variable', [{ bearer: [] }, { oidc: [] }], [], ['SHOP_TOKEN']],
  ])('tells what operations miss where %s', async (_, requirements, set, missed) => {
    const given = Object.fromEntries(set.map((name) => [name, 'x']))
    const { variables } = await importOpenApi(secured(requirements), { source: 'shop', env: given })
    expect(variables.filter(({ isMissed }) => isMissed).map(({ variable }) => variable)).toEqual(
      expect.arrayContaining([...missed]),
    )
    expect(variables.filter(({ isMissed }) => isMissed)).toHaveLength(missed.length)
    expect(variables.filter(({ isSet }) => isSet).map(({ variable }) => variable)).toEqual(set)
  })

  it('passes on the headers of who asks instead, and caches answers by them', async () => {
    const document = secured([{ key: [] }, { bearer: [] }, { cookie: [] }])
    const context = {
      request: { headers: new Headers({ 'x-key': 'mine', authorization: 'Bearer mine', cookie: 'a=1' }) },
    }
    expect(shown(await sent(document, args, { env, security: 'forward' }, context))).toEqual({
      ...none,
      key: 'mine',
      authorization: 'Bearer mine',
    })
    const { findings } = await importOpenApi(document, { security: 'forward' })
    expect(findings).toMatchObject([{ place: '#/components/securitySchemes/cookie' }])
  })

  it('keeps answers of one credential from another: its digest is part of who asks', async () => {
    const digestOf = async (key: string) => {
      const env = { SHOP_API_KEY: key }
      const { interceptors } = await importOpenApi(secured([{ key: [] }]), { source: 'shop', env })
      return { ...(interceptors[0] as { credentialDigest?: string; readsHeaders?: readonly string[] }) }
    }
    const [one, same, other] = [await digestOf('a'), await digestOf('a'), await digestOf('b')]
    expect(one).toEqual({ readsHeaders: [], credentialDigest: expect.any(String) })
    expect(one).toEqual(same)
    expect(one).not.toEqual(other)
  })

  it('gets a token with client credentials, for the scopes of the operation', async () => {
    const asked: string[] = []
    const tokens = cleanup.use(
      await startRestBackend(({ body, headers }) => {
        asked.push(`${headers['authorization']} ${String(body)}`)
        return { json: { access_token: 'got', expires_in: 60 } }
      }),
    )
    const flows = { clientCredentials: { tokenUrl: `${tokens.url}/token`, scopes: {} } }
    const document = documentOf(
      { security: [{ app: ['read', 'write'] }] },
      { components: { securitySchemes: { app: { type: 'oauth2', flows } } } },
    )
    const credentials = { SHOP_CLIENT_ID: 'id', SHOP_CLIENT_SECRET: 'secret' }
    expect((await sent(document, {}, { env: credentials })).headers['authorization']).toBe('Bearer got')
    expect(asked).toEqual([`Basic ${btoa('id:secret')} grant_type=client_credentials&scope=read+write`])
  })
})

describe('servers of a document', () => {
  const baseUrlOf = async (servers: readonly object[] | undefined, options: OpenApiOptions = {}) => {
    const { baseUrl, findings } = await importOpenApi(documentOf({}, { servers }), {
      source: 'shop',
      env: {},
      ...options,
    })
    return baseUrl ?? findings.map(({ message }) => message).join()
  }
  const regional = {
    url: 'https://{region}.example.com/{version}/',
    description: 'regional',
    variables: { region: { default: 'eu', enum: ['eu', 'us'] }, version: { default: 'v1' } },
  }

  it.each<[string, readonly object[] | undefined, OpenApiOptions, string]>([
    ['its base path stays', [{ url: 'https://a.example/v1/' }], {}, 'https://a.example/v1'],
    ['the first', [{ url: 'https://a.example' }, regional], {}, 'https://a.example'],
    ['by place', [{ url: 'https://a.example' }, regional], { server: 1 }, 'https://eu.example.com/v1'],
    [
      'by description',
      [{ url: 'https://a.example' }, regional],
      { server: 'regional' },
      'https://eu.example.com/v1',
    ],
    ['variables of the config', [regional], { variables: { version: 'v2' } }, 'https://eu.example.com/v2'],
    [
      'no variables of the environment',
      [regional],
      { env: { SHOP_REGION: 'us' } },
      'https://eu.example.com/v1',
    ],
    [
      'relative to the document',
      [{ url: '../v2' }],
      { documentUrl: 'https://a.example/api/docs/o.json' },
      'https://a.example/api/v2',
    ],
    [
      'empty: the folder of the document',
      [{ url: '' }],
      { documentUrl: 'https://a.example/api/o.json' },
      'https://a.example/api',
    ],
    ['your own', [regional], { baseUrl: 'https://own.example' }, 'https://own.example'],
    ['none', undefined, {}, ''],
    [
      'a value that is not listed',
      [regional],
      { variables: { region: 'mars' } },
      'the server variable "region" is "mars"; expected one of eu, us',
    ],
    [
      'one that is not there',
      [regional],
      { server: 3 },
      'the document has no server 3; its servers are 0 (https://{region}.example.com/{version}/)',
    ],
    [
      'a variable without a value',
      [{ url: 'https://{a}.x' }],
      {},
      'the server variable "a" has no value; set "a" in variables',
    ],
    [
      'relative to nothing',
      [{ url: '/v1' }],
      {},
      'the server "/v1" is a relative URL, but the URL of the document is unknown; set baseUrl to the URL of the server',
    ],
  ])('%s', async (_, servers, options, expected) => {
    expect(await baseUrlOf(servers, options)).toBe(expected)
  })

  it('an operation or a path with a server of its own is asked there, within its path', async () => {
    const other = cleanup.use(await startRestBackend(() => ({ json: {} })))
    const servers = [{ url: `${other.url}/uploads` }]
    const key = {
      components: { securitySchemes: { key: { type: 'apiKey', in: 'query', name: 'k' } } },
      security: [{ key: [] }],
    }
    const before = backend.requests.length
    const whole = { ...key, servers: [{ url: backend.url }] }
    await sent(documentOf({ servers }, whole), {}, { baseUrl: undefined, env: { SHOP_API_KEY: '1' } })
    await sent(documentOf({ servers: [{ url: '/below' }] }, key), {}, { baseUrl: `${other.url}/v1` })
    expect(backend.requests).toHaveLength(before)
    expect(other.requests.map(({ rawUrl }) => rawUrl)).toEqual(['/uploads/x?k=1', '/below/x'])
  })

  it.each([
    ['', undefined, 'https://a.example', 1],
    ['v2', undefined, 'https://a.example/v2', 1],
    ['/', undefined, 'https://a.example', 0],
    ['', 'https://a.example/docs/o.json', 'https://a.example/docs', 0],
    ['v2', 'https://a.example/docs/o.json', 'https://a.example/docs/v2', 0],
  ])('"%s" of an operation, in a document at %s, is %s', async (url, documentUrl, expected, told) => {
    const servers = [{ url: 'https://a.example/api/v1' }]
    const options = { env: {}, documentUrl }
    const { endpoints, findings } = await importOpenApi(
      documentOf({ servers: [{ url }] }, { servers }),
      options,
    )
    expect(endpoints[0]?.baseUrl).toBe(expected)
    expect(findings.map(({ fix }) => fix)).toEqual(
      Array.from({ length: told }, () => 'set documentUrl to the URL of the document'),
    )
  })

  it('is that of an operation where only operations name one', async () => {
    const document = documentOf({ servers: [{ url: 'https://uploads.example/v1' }] })
    const { baseUrl, endpoints } = await importOpenApi(document, { env: {} })
    expect([baseUrl, endpoints[0]?.baseUrl]).toEqual([
      'https://uploads.example/v1',
      'https://uploads.example/v1',
    ])
  })

  it('who sets baseUrl, to a copy of the API, asks no other host', async () => {
    const document = documentOf({ servers: [{ url: 'https://uploads.example' }] })
    expect((await sent(document, {})).rawUrl).toBe('/x')
    const { findings } = await importOpenApi(document, { baseUrl: backend.url, env: {} })
    expect(findings).toMatchObject([
      {
        place: '#/paths/~1x/post',
        message:
          'the server https://uploads.example of this operation is ignored, because baseUrl has a different origin',
      },
    ])
  })
})
