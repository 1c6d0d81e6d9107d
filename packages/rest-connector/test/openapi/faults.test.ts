import { writeFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createDisposables, startRestBackend, type RestAnswer, temporaryFolder } from '@vinyasa/test-kit'
import { validateSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, importOpenApi, useRestConnector, type OpenApiOptions } from '../../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const ok = (schema: object) => ({ 200: { description: 'ok', ...json(schema) } })
const pet = { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } } }
const none = { 204: { description: 'none' } }

function documentOf(paths: object, schemas: object = {}): object {
  return { openapi: '3.0.3', info: { title: 't', version: '1' }, paths, components: { schemas } }
}

async function serve(
  document: object | string,
  reply: RestAnswer = { json: {} },
  options: OpenApiOptions = {},
) {
  const backend = cleanup.use(await startRestBackend(() => reply))
  const imported = await importOpenApi(document, options)
  const { endpoints, types, findings } = imported
  const connector = cleanup.use(
    createRestConnector('api', { baseUrl: backend.url, endpoints, types, noRetry: true }),
  )
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false, maskedErrors: false })
  const ask = async (query: string, variables = {}): Promise<any> => {
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    return response.json()
  }
  return { ask, backend, connector, endpoints, types, findings }
}

describe('one operation never stops the others', () => {
  it.each([
    ['a fragment in a path', '/pets#all', 'get', {}, '/pets'],
    ['a query in a path', '/pets?kind=all&deep=1', 'get', {}, '/pets?kind=all&deep=1'],
    ['a body on DELETE', '/pets', 'delete', { requestBody: json(pet) }, '/pets'],
  ])('%s is served', async (_, path, method, more, url) => {
    const { connector, backend, findings } = await serve(
      documentOf({
        [path]: { [method]: { operationId: 'odd', responses: ok(pet), ...more } },
        '/x': { get: { operationId: 'x', responses: ok(pet) } },
      }),
    )
    expect(findings).toEqual([])
    await connector.execute('odd')
    expect(backend.requests[0]?.rawUrl).toBe(url)
  })

  it.each([
    [
      'a body on GET',
      { '/odd': { get: { requestBody: { required: true, ...json(pet) }, responses: ok(pet) } } },
    ],
    ['a brace without a parameter', { '/odd/{': { get: { responses: ok(pet) } } }],
    [
      'a parameter that leads nowhere',
      { '/odd': { get: { parameters: [{ $ref: '#/nowhere' }], responses: ok(pet) } } },
    ],
    ['a response that leads nowhere', { '/odd': { get: { responses: { 200: { $ref: '#/nowhere' } } } } }],
    [
      'a reference to itself',
      { '/odd': { get: { responses: { 200: { $ref: '#/components/responses/Self' } } } } },
    ],
  ])('%s is left out with its place', async (_, paths) => {
    const document = documentOf({ ...paths, '/fine': { get: { operationId: 'fine', responses: ok(pet) } } })
    Object.assign((document as any).components, {
      responses: { Self: { $ref: '#/components/responses/Self' } },
    })
    const { endpoints, findings } = await serve(document)
    expect(endpoints.map(({ name }) => name)).toEqual(['fine'])
    expect(findings).toHaveLength(1)
    expect(findings[0]?.place).toMatch(/^#\/paths\/~1odd.*\/get$/)
    expect(findings[0]?.message).toMatch(/^GET \/odd\S* is skipped: /)
    expect(findings[0]?.fix).toContain('exclude')
  })

  it('a schema that leads nowhere is JSON, and told', async () => {
    const { types, findings } = await serve(
      documentOf({
        '/x': {
          get: {
            operationId: 'x',
            responses: ok({ type: 'object', properties: { a: { $ref: '#/no' }, b: { type: 'string' } } }),
          },
        },
      }),
    )
    expect(types['X']).toMatchObject({ fields: { a: { type: 'JSON' }, b: { type: 'String' } } })
    expect(findings).toMatchObject([
      { place: '#/paths/~1x/get', message: expect.stringContaining('cannot be resolved') },
    ])
  })

  it('of names that are equal in camel case the later ones take their tags, then their paths', async () => {
    const operation = (operationId: string, tag?: string) => ({
      get: { operationId, ...(tag && { tags: [tag] }), responses: ok(pet) },
    })
    const { endpoints } = await serve(
      documentOf({
        '/a': operation('list-pets', 'shop'),
        '/b': operation('list_pets', 'zoo'),
        '/c': operation('list.pets'),
        '/d': operation('getPets'),
        '/e': operation('get-pets'),
      }),
    )
    expect(endpoints.map(({ name }) => name)).toEqual(['listPets', 'zooListPets', 'getC', 'getPets', 'getE'])
  })

  it('a document without any GET is served', async () => {
    const { ask } = await serve(documentOf({ '/x': { post: { operationId: 'make', responses: ok(pet) } } }), {
      json: { id: 1 },
    })
    expect(await ask('mutation { make { id } }')).toEqual({ data: { make: { id: '1' } } })
    expect(await ask('{ _sources }')).toEqual({ data: { _sources: 1 } })
  })

  it('a recursive schema in a document of many files is a type that refers to itself', async () => {
    const folder = await temporaryFolder('openapi')
    await mkdir(join(folder, 'schemas'))
    await writeFile(
      join(folder, 'api.yaml'),
      '\uFEFFopenapi: 3.1.0\ninfo: { title: t, version: "1" }\npaths:\n  /tree:\n    $ref: "paths/tree.yaml"\n',
    )
    await mkdir(join(folder, 'paths'))
    await writeFile(
      join(folder, 'paths/tree.yaml'),
      'get:\n  operationId: tree\n  responses:\n    "200":\n      description: ok\n      content:\n        application/json:\n          schema: { $ref: "../schemas/Node.yaml" }\n',
    )
    await writeFile(
      join(folder, 'schemas/Node.yaml'),
      'type: object\nproperties:\n  name: { type: string }\n  children: { type: array, items: { $ref: "#" } }\n  leaf: { $ref: "more.json#/defs/Leaf" }\n',
    )
    await writeFile(
      join(folder, 'schemas/more.json'),
      JSON.stringify({
        defs: {
          Leaf: { type: 'object', properties: { of: { $ref: 'Node.yaml' }, gone: { $ref: 'gone.yaml' } } },
        },
      }),
    )
    const { types, findings } = await serve(join(folder, 'api.yaml'))
    expect(types).toEqual({
      Node: {
        kind: 'object',
        fields: { name: { type: 'String' }, children: { type: '[Node]' }, leaf: { type: 'Leaf' } },
      },
      Leaf: { kind: 'object', fields: { of: { type: 'Node' }, gone: { type: 'JSON' } } },
    })
    expect(findings).toHaveLength(1)
    expect(findings[0]?.message).toContain('gone.yaml')
  })
})

describe('what documents say beside a reference', () => {
  const named = { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } } }

  it.each([
    { allOf: [{ $ref: '#/components/schemas/Pet' }], required: ['name'] },
    { oneOf: [{ $ref: '#/components/schemas/Pet' }], required: ['name'] },
    { anyOf: [{ $ref: '#/components/schemas/Pet' }, { type: 'null' }], required: ['name'] },
  ])('required properties are: %j', async (schema) => {
    const { types, endpoints } = await serve(
      documentOf(
        {
          '/make': { post: { requestBody: { required: true, ...json(schema) }, responses: none } },
          '/edit': { patch: { requestBody: json({ $ref: '#/components/schemas/Pet' }), responses: none } },
        },
        { Pet: named },
      ),
    )
    const inputs = endpoints.map(({ args }) =>
      (args as { input: { type: string } }).input.type.replace('!', ''),
    )
    const fields = inputs.map((type) => (types[type] as { fields: unknown }).fields)
    expect(fields).toMatchObject([
      { name: { type: 'String!' }, age: { type: 'Long' } },
      { name: { type: 'String' }, age: { type: 'Long' } },
    ])
  })

  it.each([
    [true, true, 'String'],
    [true, false, 'String!'],
    [false, true, 'String!'],
  ])('a property of two parts of allOf is null only where both allow it: %s, %s', async (a, b, type) => {
    const part = (nullable: boolean): object => ({
      type: 'object',
      required: ['url'],
      properties: { url: { type: 'string', nullable } },
    })
    const schema = { allOf: [part(a), part(b)] }
    const { types } = await serve(
      documentOf(
        { '/x': { post: { requestBody: json({ $ref: '#/components/schemas/Job' }), responses: none } } },
        { Job: schema },
      ),
    )
    expect(types['JobInput']).toMatchObject({ fields: { url: { type } } })
  })

  it('an enum of the discriminator property tells variants apart, without a mapping', async () => {
    const variant = (type: string): object => ({
      type: 'object',
      properties: { type: { type: 'string', enum: [type] }, [type]: { type: 'string' } },
    })
    const oneOf = ['ArtistObject', 'TrackObject'].map((name) => ({ $ref: `#/components/schemas/${name}` }))
    const { ask } = await serve(
      documentOf(
        {
          '/top': {
            get: {
              operationId: 'top',
              responses: ok({ type: 'array', items: { oneOf, discriminator: { propertyName: 'type' } } }),
            },
          },
        },
        { ArtistObject: variant('artist'), TrackObject: variant('track') },
      ),
      { json: [{ type: 'track' }, { type: 'artist' }] },
    )
    expect(await ask('{ top { __typename } }')).toEqual({
      data: { top: [{ __typename: 'TrackObject' }, { __typename: 'ArtistObject' }] },
    })
  })

  it.each([
    ['header', ''],
    ['header', 'a b'],
    ['cookie', 'a;b'],
  ])(
    'a %s parameter that no request can hold (%j) costs the argument, or the operation that needs it',
    async (place, name) => {
      const one = (required: boolean): object => ({
        operationId: required ? 'needs' : 'may',
        parameters: [{ name, in: place, required, schema: { type: 'string' } }],
        responses: ok(pet),
      })
      const { endpoints, findings } = await serve(
        documentOf({ '/a': { get: one(false) }, '/b': { get: one(true) } }),
      )
      expect(endpoints.map((endpoint) => endpoint.name)).toEqual(['may'])
      expect(findings.map(({ message }) => message)).toEqual([
        expect.stringMatching(
          /is not a valid name for a (header|cookie) parameter; the field "\w+" has no argument for this part of the request$/,
        ),
        expect.stringContaining('GET /b is skipped'),
      ])
    },
  )
})

describe('schemas that only a place tells apart', () => {
  const text = { type: 'string' }
  const thing = (field: string): object => ({ type: 'object', properties: { [field]: text } })

  it('references into paths, as bundlers write them, name nothing: each schema is a type of its own', async () => {
    const list = (field: string): object => ok({ type: 'array', items: thing(field) })
    const into = (path: string): string =>
      `#/paths/~1${path}/get/responses/200/content/application~1json/schema/items`
    const make = (path: string): object => ({
      operationId: `make ${path}`,
      requestBody: { required: true, ...json({ allOf: [{ $ref: into(path) }], required: [path] }) },
      responses: ok({ $ref: into(path) }),
    })
    const paths = Object.fromEntries(
      ['cat', 'dog'].map((path) => [
        `/${path}`,
        { get: { operationId: `all ${path}`, responses: list(path) }, post: make(path) },
      ]),
    )
    const { types, endpoints } = await serve(documentOf(paths))
    const fieldsOf = (type = ''): unknown => {
      const definition = types[type.replaceAll(/[[\]!]/g, '')]
      return definition && 'fields' in definition ? Object.keys(definition.fields) : undefined
    }
    const seen = endpoints.map(({ returnType, args }) => [
      fieldsOf(returnType),
      fieldsOf((args?.['input'] as { type?: string } | undefined)?.type),
    ])
    expect(seen).toEqual([
      [['cat'], undefined],
      [['cat'], ['cat']],
      [['dog'], undefined],
      [['dog'], ['dog']],
    ])
  })

  it('schemas of one name in several files are types of their own, and a component keeps its name', async () => {
    const folder = await temporaryFolder('openapi')
    const write = (name: string, value: object): Promise<void> =>
      writeFile(join(folder, name), JSON.stringify(value))
    for (const name of ['a', 'b'])
      await write(`${name}.json`, { components: { schemas: { Pet: thing(name) } } })
    await write('whole.json', thing('whole'))
    const refs = [
      'a.json#/components/schemas/Pet',
      'b.json#/components/schemas/Pet',
      '#/components/schemas/Pet',
    ]
    await write(
      'api.json',
      documentOf(
        Object.fromEntries(refs.map(($ref, index) => [`/${index}`, { get: { responses: ok({ $ref }) } }])),
        { Pet: { $ref: 'whole.json' } },
      ),
    )
    const { types } = await serve(join(folder, 'api.json'))
    const fields = Object.values(types).map((type) => ('fields' in type ? Object.keys(type.fields) : []))
    expect(fields.toSorted()).toEqual([['a'], ['b'], ['whole']])
    expect(types).toMatchObject({ Pet: { fields: { whole: { type: 'String' } } } })
  })
})

describe('a reply that is not what its document says', () => {
  const html: RestAnswer = { body: '<html>secret</html>', headers: { 'content-type': 'text/html' } }
  const paths = {
    '/pet': {
      get: { operationId: 'pet', responses: ok(pet) },
      post: { operationId: 'addPet', responses: ok(pet) },
    },
    '/pets': { get: { operationId: 'pets', responses: ok({ type: 'array', items: pet }) } },
  }
  it.each<[string, string, RestAnswer, RegExp]>([
    [
      'HTML for an object',
      '{ pet { id } }',
      html,
      /an object, but returned a string \(status 200, text\/html\)/,
    ],
    [
      'a scalar for an object',
      '{ pet { id } }',
      { json: 7 },
      /an object, but returned a number \(status 200, application\/json\)/,
    ],
    ['a list for an object', '{ pet { id } }', { json: [] }, /an object, but returned a list/],
    ['an object for a list', '{ pets { id } }', { json: { id: 1 } }, /a list, but returned an object/],
    ['HTML for a list', '{ pets { id } }', html, /a list, but returned a string/],
    ['text for a mutation', 'mutation { addPet { id } }', html, /an object, but returned a string/],
  ])('%s is an error with status and media type', async (_, query, reply, message) => {
    const { ask } = await serve(documentOf(paths), reply)
    const { data, errors } = await ask(query)
    expect(Object.values(data)).toEqual([null])
    expect(errors[0].message).toMatch(message)
    expect(errors[0].message).not.toContain('secret')
    expect(errors[0].extensions).toMatchObject({ code: 'REST_BAD_RESPONSE', status: 200 })
  })

  it('one object that has all that an item must have is a list of one, and what has less is an error', async () => {
    const named = {
      type: 'object',
      properties: {
        id: { type: 'integer' },
        name: { type: 'string' },
        pin: { type: 'string', writeOnly: true },
      },
      required: ['id', 'name', 'pin', 'unknown'],
    }
    const document = documentOf({
      '/pets': { get: { operationId: 'pets', responses: ok({ type: 'array', items: named }) } },
    })
    const answers: [object, unknown][] = [
      [{ id: 1, name: null }, [{ id: '1' }]],
      [{ id: 1 }, null],
      [{ message: 'no' }, null],
      [[{ id: 1 }], [{ id: '1' }]],
    ]
    for (const [json, pets] of answers) {
      const { ask } = await serve(document, { json })
      expect([json, (await ask('{ pets { id } }')).data]).toEqual([json, { pets }])
    }
  })

  it.each<[string, object, RestAnswer, unknown]>([
    ['no body', none, { status: 204 }, true],
    ['a body that nobody declared', { 200: { description: 'ok' } }, html, true],
    [
      'text',
      { 200: { description: 'ok', content: { 'text/plain': { schema: { type: 'string' } } } } },
      { body: 'hi', headers: { 'content-type': 'text/plain' } },
      'hi',
    ],
    [
      'bytes',
      { 200: { description: 'ok', content: { 'image/png': {} } } },
      { body: new Uint8Array([0, 255, 1]), headers: { 'content-type': 'image/png' } },
      'AP8B',
    ],
  ])('%s has a value of its own', async (_, responses, reply, value) => {
    const { ask } = await serve(documentOf({ '/x': { get: { operationId: 'x', responses } } }), reply)
    expect(await ask('{ x }')).toEqual({ data: { x: value } })
  })
})

describe('integers', () => {
  const paths = {
    '/users/{id}': {
      get: {
        operationId: 'user',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
        responses: ok({
          type: 'object',
          properties: {
            id: { type: 'integer' },
            at: { type: 'integer' },
            page: { type: 'integer', maximum: 10 },
          },
        }),
      },
      put: {
        operationId: 'put',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
        requestBody: json({}),
        responses: none,
      },
    },
  }

  it('keep all digits, and an id that was read can be passed back', async () => {
    const { ask, backend } = await serve(documentOf(paths), {
      body: '{"id":9007199254740993,"at":1700000000000,"page":3}',
      headers: { 'content-type': 'application/json' },
    })
    const { data } = await ask('{ user(id: 9007199254740993) { id at page } }')
    expect(data.user).toEqual({ id: '9007199254740993', at: '1700000000000', page: 3 })
    await ask('query ($id: Long!) { user(id: $id) { id } }', { id: data.user.id })
    expect(backend.requests.map(({ rawUrl }) => rawUrl)).toEqual([
      '/users/9007199254740993',
      '/users/9007199254740993',
    ])
  })

  it('are not rounded in JSON that comes as a literal', async () => {
    const { ask, backend } = await serve(documentOf(paths), { status: 204 })
    await ask('mutation { put(id: 1, input: { big: [9007199254740993, -1], small: 2 }) }')
    expect(backend.requests[0]?.body.toString()).toBe('{"big":[9007199254740993,-1],"small":2}')
  })

  it('are refused beyond 1,000 digits in JSON that comes as a literal', async () => {
    const { ask, backend } = await serve(documentOf(paths), { status: 204 })
    const put = (digits: number) =>
      ask(`mutation { put(id: 1, input: { big: ${'9'.repeat(digits)}, small: 2 }) }`)
    expect((await put(1_001)).errors?.[0]?.message).toContain('must have at most 1000 digits')
    expect(backend.requests).toEqual([])
    await put(1_000)
    expect(backend.requests[0]?.body.toString()).toContain('9'.repeat(1_000))
  })

  it.each([
    ...['int8', 'int16', 'int32', 'uint8', 'uint16'].map((format) => [format, 'Int'] as const),
    ...['uint32', 'int64', 'uint64', 'unix-time'].map((format) => [format, 'Long'] as const),
  ])('of the format %s are %s', async (format, expected) => {
    const schema = { type: 'object', properties: { n: { type: 'integer', format } } }
    const { types } = await serve(documentOf({ '/n': { get: { operationId: 'n', responses: ok(schema) } } }))
    expect(types['N']).toMatchObject({ fields: { n: { type: expected } } })
  })

  it.each([
    ['int', 'Int', 'Int'],
    ['long', 'Long', 'Long'],
    ['auto', 'Long', 'Int'],
  ] as const)('integers: %s gives %s, and %s where they are bounded', async (integers, plain, bounded) => {
    const { types } = await serve(documentOf(paths), {}, { integers })
    expect(types['User']).toMatchObject({ fields: { at: { type: plain }, page: { type: bounded } } })
  })
})

describe('names', () => {
  it('of schemas that differ in case are two types, and that of another source is another', async () => {
    const user = (key: string) => ({ type: 'object', properties: { [key]: { type: 'string' } } })
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
    const document = documentOf(
      {
        '/a': {
          get: {
            operationId: 'a',
            responses: ok({ type: 'object', properties: { one: ref('user'), two: ref('User') } }),
          },
        },
      },
      { user: user('small'), User: user('big') },
    )
    const { types, connector } = await serve(document)
    expect(validateSchema(connector.schema)).toEqual([])
    expect(types['User']).toMatchObject({ fields: { big: {} } })
    expect(Object.values(types)).toHaveLength(3)
    const other = await importOpenApi(document, { taken: ['User', 'a'], source: 'shop' })
    expect(Object.keys(other.types)).toContain('ShopUser')
    expect(Object.keys(other.types)).not.toContain('User')
    expect(other.endpoints.map(({ name }) => name)).not.toContain('a')
  })

  it('can be chosen', async () => {
    const { endpoints, types, findings } = await serve(
      documentOf(
        {
          '/a': { get: { operationId: 'a', responses: ok({ $ref: '#/components/schemas/x' }) } },
          '/b': { get: { responses: none } },
        },
        { x: pet },
      ),
      {},
      { rename: { a: 'alpha', 'GET /b': 'beta', x: 'Animal', nobody: 'y' } },
    )
    expect(endpoints.map(({ name }) => name)).toEqual(['alpha', 'beta'])
    expect(Object.keys(types)).toEqual(['Animal'])
    expect(findings).toMatchObject([{ message: 'rename contains "nobody", which is not part of the import' }])
  })

  it('names of operations and schemas that are not there are told of', async () => {
    const document = documentOf(
      { '/a': { post: { operationId: 'a', responses: ok({ $ref: '#/components/schemas/x' }) } } },
      { x: pet },
    )
    const { findings } = await serve(
      document,
      {},
      { asQuery: ['a', 'POST /a', '*', 'b'], trustRequired: ['x', 'X.name', 'Y.name'], rename: { x: 'X' } },
    )
    expect(findings.map(({ message }) => message)).toEqual([
      'asQuery contains "b", which is not part of the import',
      'trustRequired contains "Y.name", which is not part of the import',
    ])
  })
})
