import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDisposables, startRestBackend, type RecordedRequest } from '@vinyasa/test-kit'
import { printSchema } from 'graphql'
import { afterAll, describe, expect, it } from 'vitest'
import { createRestConnector, importOpenApi } from '../../../src/index.ts'

const cleanup = createDisposables()
afterAll(() => cleanup.dispose())
const backend = cleanup.use(await startRestBackend(() => ({ json: {} })))

type Node = Record<string, unknown>

/** One construct of Swagger 2 and what OpenAPI 3.0 writes instead. */
interface Row {
  readonly name: string
  readonly parameters: readonly Node[]
  readonly consumes?: readonly string[]
  readonly path?: string
  /** Of the operation in 3.0. */
  readonly equal: Node
  readonly args: Readonly<Record<string, unknown>>
}

const string = { type: 'string' }
const list = { type: 'array', items: string }
const ref = (section: string): Node => ({ $ref: `#/${section}/Pet` })
const Pet = {
  type: 'object',
  required: ['name'],
  properties: { name: string, status: { type: 'string', enum: ['a-b', 'c'] } },
}
const pet = { name: 'n', status: 'A_B' }
const form = 'application/x-www-form-urlencoded'
const multipart = 'multipart/form-data'

function bodyOf(type: string, properties: Node, more: Node = {}, required: readonly string[] = []): Node {
  const content = { [type]: { schema: { type: 'object', properties, required }, ...more } }
  return { requestBody: { ...(required.length > 0 && { required: true }), content } }
}

const tagged = (collectionFormat?: string, place = 'query'): Node => ({
  name: 'tags',
  in: place,
  ...list,
  ...(place === 'path' && { required: true }),
  ...(collectionFormat !== undefined && { collectionFormat }),
})

function listRow(format: string | undefined, style: Node, place = 'query'): Row {
  const path = place === 'path' ? '/x/{tags}' : '/x'
  const { name, in: where, required } = tagged(format, place)
  const parameter = { name, in: where, ...(required !== undefined && { required }), schema: list, ...style }
  return {
    name: `a list in ${place}, collectionFormat ${format ?? 'none'}`,
    path,
    parameters: [tagged(format, place)],
    equal: { parameters: [parameter] },
    args: { tags: ['a', 'b,c'].slice(0, place === 'header' ? 1 : 2) },
  }
}

const rows: readonly Row[] = [
  {
    name: 'a body of JSON',
    parameters: [
      { name: 'pet', in: 'body', required: true, description: 'the pet', schema: ref('definitions') },
    ],
    equal: {
      requestBody: {
        required: true,
        description: 'the pet',
        content: { 'application/json': { schema: ref('components/schemas') } },
      },
    },
    args: { input: pet },
  },
  {
    name: 'a body of its own shape',
    parameters: [{ name: 'pet', in: 'body', schema: { type: 'object', properties: { a: list } } }],
    equal: bodyOf('application/json', { a: list }),
    args: { input: { a: ['1'] } },
  },
  {
    name: 'a body of a media type of the operation',
    consumes: ['application/vnd.pet+json'],
    parameters: [{ name: 'pet', in: 'body', schema: ref('definitions') }],
    equal: {
      requestBody: { content: { 'application/vnd.pet+json': { schema: ref('components/schemas') } } },
    },
    args: { input: pet },
  },
  {
    name: 'a form',
    consumes: [form],
    parameters: [
      { name: 'name', in: 'formData', type: 'string', required: true, description: 'its name' },
      { name: 'status', in: 'formData', type: 'string', enum: ['a-b', 'c'], default: 'c' },
      { name: 'age', in: 'formData', type: 'integer', format: 'int32' },
    ],
    equal: bodyOf(
      form,
      {
        name: { ...string, description: 'its name' },
        status: { type: 'string', enum: ['a-b', 'c'], default: 'c' },
        age: { type: 'integer', format: 'int32' },
      },
      {},
      ['name'],
    ),
    args: { input: { name: 'a b', status: 'A_B', age: 3 } },
  },
  {
    name: 'a form of no media type',
    parameters: [{ name: 'name', in: 'formData', type: 'string' }],
    equal: bodyOf(form, { name: string }),
    args: { input: { name: 'a b' } },
  },
  {
    name: 'a form of either media type',
    consumes: [multipart, form],
    parameters: [{ name: 'name', in: 'formData', type: 'string' }],
    equal: bodyOf(form, { name: string }),
    args: { input: { name: 'a b' } },
  },
  {
    name: 'a file',
    parameters: [
      { name: 'photo', in: 'formData', type: 'file', required: true },
      { name: 'caption', in: 'formData', type: 'string' },
    ],
    equal: bodyOf(multipart, { photo: { type: 'string', format: 'binary' }, caption: string }, {}, ['photo']),
    args: { input: { photo: 'aGVsbG8=', caption: 'c' } },
  },
  {
    name: 'a file, with the media type of forms beside',
    consumes: [form, multipart],
    parameters: [{ name: 'photo', in: 'formData', type: 'file' }],
    equal: bodyOf(multipart, { photo: { type: 'string', format: 'binary' } }),
    args: { input: { photo: 'aGVsbG8=' } },
  },
  {
    name: 'a list in multipart',
    consumes: [multipart],
    parameters: [tagged('multi', 'formData')],
    equal: bodyOf(multipart, { tags: list }, { encoding: { tags: { style: 'form', explode: true } } }),
    args: { input: { tags: ['a', 'b'] } },
  },
  {
    name: 'a list in multipart, comma-separated',
    consumes: [multipart],
    parameters: [tagged(undefined, 'formData')],
    equal: bodyOf(multipart, { tags: list }, { encoding: { tags: { style: 'form', explode: false } } }),
    args: { input: { tags: ['a', 'b'] } },
  },
  ...(
    [
      [undefined, { style: 'form', explode: false }],
      ['csv', { style: 'form', explode: false }],
      ['multi', { style: 'form', explode: true }],
      ['ssv', { style: 'spaceDelimited', explode: false }],
      ['pipes', { style: 'pipeDelimited', explode: false }],
      ['tsv', { style: 'tabDelimited', explode: false }],
    ] as const
  ).flatMap(([format, style]): Row[] => [
    listRow(format, style),
    {
      name: `a list in a form, collectionFormat ${format ?? 'none'}`,
      consumes: [form],
      parameters: [tagged(format, 'formData')],
      equal: bodyOf(form, { tags: list }, { encoding: { tags: style } }),
      args: { input: { tags: ['a', 'b'] } },
    },
  ]),
  listRow(undefined, { style: 'simple' }, 'path'),
  listRow('csv', { style: 'simple' }, 'header'),
  {
    name: 'plain parameters',
    path: '/x/{id}',
    parameters: [
      { name: 'id', in: 'path', required: true, type: 'integer', format: 'int64' },
      { name: 'size', in: 'query', type: 'integer', maximum: 10, default: 5, description: 'how many' },
      { name: 'X-Sort', in: 'header', type: 'string', enum: ['a-b', 'c'] },
    ],
    equal: {
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } },
        {
          name: 'size',
          in: 'query',
          description: 'how many',
          schema: { type: 'integer', maximum: 10, default: 5 },
        },
        { name: 'X-Sort', in: 'header', schema: { type: 'string', enum: ['a-b', 'c'] } },
      ],
    },
    args: { id: '7', xSort: 'A_B' },
  },
]

const responses = { 200: { description: 'ok', schema: { $ref: '#/definitions/Pet' } } }

const writings: Readonly<Record<string, (row: Row) => Node>> = {
  'written inline': ({ parameters }) => ({ item: { post: { parameters } } }),
  'shared, of the operation': ({ parameters }) => ({
    item: { post: { parameters: refsTo(parameters) } },
    parameters: Object.fromEntries(parameters.map((one, index) => [`P/${index}`, one])),
  }),
  'of the path, before the operation': ({ parameters }) => ({ item: { parameters, post: {} } }),
  'of the path, after the operation': ({ parameters }) => ({ item: { post: {}, parameters } }),
  'shared, of the path': ({ parameters }) => ({
    item: { post: {}, parameters: refsTo(parameters) },
    parameters: Object.fromEntries(parameters.map((one, index) => [`P/${index}`, one])),
  }),
}

function refsTo(parameters: readonly Node[]): readonly Node[] {
  return parameters.map((_, index) => ({ $ref: `#/parameters/P~1${index}` }))
}

function swagger({ path = '/x', consumes }: Row, { item, parameters }: Node): Node {
  const { post, ...rest } = item as { post: Node }
  // The order of members is that of the item.
  const operation = { operationId: 'x', responses, ...(consumes && { consumes }), ...post }
  const entries = Object.entries(item as Node).map(([key, value]) => [
    key,
    key === 'post' ? operation : value,
  ])
  expect(Object.keys(rest).length).toBeLessThan(2)
  return {
    swagger: '2.0',
    info: { title: 't', version: '1' },
    host: 'api.example',
    basePath: '/v1',
    schemes: ['https'],
    definitions: { Pet },
    ...(parameters !== undefined && { parameters }),
    paths: { [path]: Object.fromEntries(entries) },
  }
}

function openapi({ path = '/x', equal }: Row): Node {
  const answer = { description: 'ok', content: { 'application/json': { schema: ref('components/schemas') } } }
  return {
    openapi: '3.0.3',
    info: { title: 't', version: '1' },
    servers: [{ url: 'https://api.example/v1' }],
    components: { schemas: { Pet } },
    paths: { [path]: { post: { operationId: 'x', responses: { 200: answer }, ...equal } } },
  }
}

async function served(
  document: object,
  args: Row['args'],
): Promise<{
  readonly sdl: string
  readonly findings: unknown
  readonly baseUrl: unknown
  readonly wire: unknown
}> {
  const { findings, ...imported } = await importOpenApi(structuredClone(document), { env: {} })
  const connector = createRestConnector('api', { ...imported, baseUrl: backend.url, noRetry: true })
  const sdl = printSchema(connector.schema)
  expect(sdl).toContain('x(')
  await connector.execute('x', args)
  await connector.close()
  const { method, rawUrl, headers, body } = backend.requests.at(-1) as RecordedRequest
  const [, boundary = 'none'] = /boundary=(\S+)/.exec(headers['content-type'] ?? '') ?? []
  const told = `${method} ${rawUrl}\n${headers['content-type']}\n${headers['x-sort']}\n${headers['tags']}\n${body.toString()}`
  return { sdl, findings, baseUrl: imported.baseUrl, wire: told.replaceAll(boundary, 'BOUNDARY') }
}

describe.each(Object.keys(writings))('what Swagger 2 says, %s,', (writing) => {
  it.each(rows)('is what OpenAPI 3.0 says: $name', async (row) => {
    const is = await served(swagger(row, (writings[writing] as (row: Row) => Node)(row)), row.args)
    expect(is).toEqual(await served(openapi(row), row.args))
    expect(is.findings).toEqual([])
  })
})

describe('lists of Swagger 2', () => {
  it.each([
    ['csv', 'a,b'],
    ['ssv', 'a b'],
    ['tsv', 'a\tb'],
    ['pipes', 'a|b'],
  ])('%s are one text in queries, forms and parts', async (format, text) => {
    for (const [place, consumes] of [
      ['query', form],
      ['formData', form],
      ['formData', multipart],
    ] as const) {
      const row = { name: '', equal: {}, args: {}, consumes: [consumes], parameters: [tagged(format, place)] }
      const inline = (writings['written inline'] as (row: Row) => Node)(row)
      const tags = ['a', 'b']
      const { wire } = await served(swagger(row, inline), place === 'query' ? { tags } : { input: { tags } })
      const plain =
        consumes === multipart
          ? String(wire)
          : new URLSearchParams(String(wire).replace(/^POST \/x\??/, '')).toString()
      const escaped = new URLSearchParams({ tags: text }).toString()
      expect(plain).toContain(consumes === multipart ? `name="tags"\r\n\r\n${text}\r\n` : escaped)
    }
  })

  it.each([
    ['path', 'pipes'],
    ['header', 'ssv'],
    ['header', 'tsv'],
  ])('in %s as %s, for which there are no words in OpenAPI 3, are told', async (place, format) => {
    const row = { name: '', equal: {}, args: {}, path: '/x/{tags}', parameters: [tagged(format, place)] }
    const document = swagger(row, (writings['written inline'] as (row: Row) => Node)(row))
    expect((await importOpenApi(document, { env: {} })).findings).toMatchObject([
      { place: '#/paths/~1x~1{tags}/post', message: expect.stringContaining(`the style "${format}"`) },
    ])
  })
})

describe('what answers are in Swagger 2', () => {
  const file = { type: 'string', format: 'binary' }
  const json = { description: 'ok', content: { 'application/json': { schema: ref('components/schemas') } } }
  const answers: readonly (readonly [string, Node, Node])[] = [
    ['shared', { responses: { 200: { $ref: '#/responses/R' } } }, { responses: { 200: json } }],
    [
      'shared, of the media types of the operation',
      { produces: ['text/csv'], responses: { 200: { $ref: '#/responses/R' } } },
      { responses: { 200: { content: { 'text/csv': { schema: string } } } } },
    ],
    [
      'none',
      { responses: { 204: { description: 'done' } } },
      { responses: { 204: { description: 'done' } } },
    ],
    [
      'a file',
      { responses: { 200: { description: 'ok', schema: { type: 'file' } } } },
      { responses: { 200: { content: { 'application/octet-stream': { schema: file } } } } },
    ],
    [
      'a file of a media type',
      { produces: ['application/json', 'image/png'], responses: { 200: { schema: { type: 'file' } } } },
      { responses: { 200: { content: { 'image/png': { schema: file } } } } },
    ],
    [
      'with headers',
      {
        responses: {
          200: {
            schema: ref('definitions'),
            headers: { 'X-Left': { type: 'integer', format: 'int32', description: 'left' } },
          },
        },
      },
      {
        responses: {
          200: {
            ...json,
            headers: { 'X-Left': { description: 'left', schema: { type: 'integer', format: 'int32' } } },
          },
        },
      },
    ],
  ]

  it.each(answers)('%s', async (_name, old, equal) => {
    const common = { info: { title: 't', version: '1' } }
    const swagger2 = {
      ...common,
      swagger: '2.0',
      host: 'api.example',
      produces: ['application/json'],
      definitions: { Pet },
      responses: { R: { description: 'ok', schema: ref('definitions') } },
      paths: { '/x': { get: { operationId: 'x', ...old } } },
    }
    const openapi3 = {
      ...common,
      openapi: '3.0.3',
      servers: [{ url: 'http://api.example' }],
      components: { schemas: { Pet } },
      paths: { '/x': { get: { operationId: 'x', ...equal } } },
    }
    const [is, wanted] = await Promise.all(
      [swagger2, openapi3].map(async (one) => {
        const { files: _, ...api } = await importOpenApi(one, { env: {}, headers: true })
        const connector = createRestConnector('api', { ...api, baseUrl: 'http://api.example' })
        await connector.close()
        return { ...api, interceptors: api.interceptors.length, sdl: printSchema(connector.schema) }
      }),
    )
    expect(is).toEqual(wanted)
  })
})

it('a body that methods of a path share is not that of GET, which is told', async () => {
  const parameters = [{ name: 'pet', in: 'body', required: true, schema: ref('definitions') }]
  const paths = { '/x': { parameters, get: { operationId: 'get' }, put: { operationId: 'put' } } }
  const document = { swagger: '2.0', host: 'api.example', definitions: { Pet }, paths }
  const { endpoints, findings } = await importOpenApi(document, { env: {} })
  expect(endpoints.map(({ name, args }) => [name, args])).toEqual([
    ['get', {}],
    ['put', { input: { type: 'PetInput!' } }],
  ])
  expect(findings).toMatchObject([
    {
      place: '#/paths/~1x/get',
      message: expect.stringContaining('a request body is not supported in a GET operation'),
    },
  ])
})

it.each([null, 'x', 1, true])('a method that is %j is no operation', async (get) => {
  const put = { operationId: 'put', responses: { 204: { description: 'done' } } }
  const common = { info: { title: 't', version: '1' }, paths: { '/x': { get, put } } }
  const [is, wanted] = await Promise.all(
    [
      { ...common, swagger: '2.0', host: 'api.example' },
      { ...common, openapi: '3.0.3', servers: [{ url: 'http://api.example' }] },
    ].map(async (document) => {
      const { endpoints, findings } = await importOpenApi(document, { env: {} })
      return { names: endpoints.map(({ name }) => name), findings }
    }),
  )
  expect(is).toEqual({ names: ['put'], findings: [] })
  expect(is).toEqual(wanted)
})

it.each([true, false])('a form with a member of which required is %s', async (required) => {
  const parameters = [
    { name: 'name', in: 'formData', type: 'string', required },
    { name: 'more', in: 'formData', type: 'string' },
  ]
  const paths = { '/x': { post: { operationId: 'x', parameters, responses: {} } } }
  const document = { swagger: '2.0', host: 'api.example', paths }
  const { endpoints } = await importOpenApi(document, { env: {} })
  expect(endpoints[0]?.args).toEqual({ input: { type: required ? 'XInput!' : 'XInput' } })
})

it('a shared body of another file is that of the operation', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'swagger-2-'))
  cleanup.use({ [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) })
  const shared = {
    parameters: { Pet: { name: 'pet', in: 'body', schema: ref('definitions') } },
    definitions: { Pet },
  }
  const operation = { operationId: 'x', parameters: [{ $ref: 'common.json#/parameters/Pet' }], responses: {} }
  const document = { swagger: '2.0', host: 'api.example', paths: { '/x': { post: operation } } }
  await writeFile(join(folder, 'common.json'), JSON.stringify(shared))
  await writeFile(join(folder, 'api.json'), JSON.stringify(document))
  const { endpoints, findings } = await importOpenApi(join(folder, 'api.json'), { env: {} })
  expect([endpoints[0]?.args, findings]).toEqual([{ input: { type: 'PetInput' } }, []])
})
