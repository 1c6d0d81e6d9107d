import { createRequire } from 'node:module'
import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import {
  isObjectType,
  isListType,
  isNonNullType,
  isLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
} from 'graphql'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import {
  createRestConnector,
  endpointsFromOpenApi,
  useRestConnector,
  type OpenApiOptions,
} from '../src/index.ts'
import { loadOpenApi, type OpenApiDocument } from '../src/openapi/openapi-document.ts'
import { sampleOf } from './openapi-sample.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

/** A real public document: Blockfrost's, of the package `@blockfrost/openapi`. */
const blockfrost = createRequire(import.meta.url).resolve('@blockfrost/openapi/openapi.yaml')

/** Serves every GET of a document with a sample made of its response schema. */
async function mockOf(document: OpenApiDocument) {
  const routes = Object.entries(document.root['paths'] as Record<string, any>).flatMap(([path, item]) => {
    const media = document.resolve(item.get?.responses?.['200'])['content'] as any
    const pattern = new RegExp(`^${path.replace(/[.+]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+')}$`)
    const variables = path.split('{').length
    return item.get ? [{ pattern, variables, schema: media?.['application/json']?.schema }] : []
  })
  routes.sort((a, b) => a.variables - b.variables)
  return startRestBackend(({ url }) => {
    const route = routes.find(({ pattern }) => pattern.test(url.pathname))
    if (!route) return { status: 404 }
    return { json: sampleOf(route.schema, document) }
  })
}

/** A selection of every field, four levels deep. */
function selectAll(type: GraphQLOutputType, depth = 0): string {
  const named = isNonNullType(type) || isListType(type) ? undefined : type
  if (!named) return selectAll((type as { ofType: GraphQLOutputType }).ofType, depth)
  if (!isObjectType(named)) return ''
  const fields = Object.values(named.getFields()).flatMap((field) => {
    const leaf = innermost(field.type)
    if (isLeafType(leaf)) return [field.name]
    return depth < 4 ? [`${field.name}${selectAll(field.type, depth + 1)}`] : []
  })
  return `{ ${fields.length > 0 ? fields.join(' ') : '__typename'} }`
}

function innermost(type: GraphQLOutputType): GraphQLOutputType {
  return isNonNullType(type) || isListType(type) ? innermost(type.ofType) : type
}

describe('a real public OpenAPI 3 document', () => {
  it('imports whole, and every typed GET field answers from a mock upstream of the same document', async () => {
    const skipped: string[] = []
    const endpoints = await endpointsFromOpenApi(blockfrost, {
      integer: 'float',
      onSkip: ({ method, path }, reason) => skipped.push(`${method} ${path}: ${reason}`),
    })
    const document = await loadOpenApi(blockfrost, false)
    const backend = cleanup.use(await mockOf(document))
    const connector = cleanup.use(
      createRestConnector('blockfrost', { baseUrl: backend.url, endpoints, maxRequestsPerOperation: 0 }),
    )
    const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false, maskedErrors: false })
    const query = connector.schema.getQueryType() as GraphQLObjectType
    const fields = Object.values(query.getFields())
    expect(fields.length).toBeGreaterThan(80)
    // What is left out takes a body that has no JSON form.
    expect(skipped).toEqual([
      'POST /tx/submit: its required parameter "body" (application/cbor) cannot be sent',
      'POST /utils/txs/evaluate: its required parameter "body" (application/cbor) cannot be sent',
      'POST /ipfs/add: its required parameter "body" (multipart/form-data) cannot be sent',
    ])

    const typed = fields.filter((field) => !isLeafType(innermost(field.type)))
    expect(typed.length).toBeGreaterThan(60)
    for (const field of typed) {
      const args = field.args
        .filter((arg) => isNonNullType(arg.type))
        .map((arg) => `${arg.name}: ${String(arg.type).startsWith('String') ? '"x1"' : '1'}`)
      const response = await yoga.fetch('http://yoga/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          query: `{ ${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''} ${selectAll(field.type)} }`,
        }),
      })
      const result: any = await response.json()
      expect({ field: field.name, errors: result.errors }).toEqual({ field: field.name, errors: undefined })
      expect(result.data[field.name]).not.toBeNull()
    }
    expect(backend.requests).toHaveLength(typed.length)
  }, 60_000)

  it('can be narrowed by ids and tags, with prefixed names', async () => {
    const all = await endpointsFromOpenApi(blockfrost, { onSkip: () => {} })
    const tagged = await endpointsFromOpenApi(blockfrost, { tags: ['Cardano » Epochs'], prefix: 'bf' })
    expect(tagged.length).toBeGreaterThan(2)
    expect(tagged.length).toBeLessThan(all.length / 2)
    expect(tagged.every(({ name }) => /^bf[A-Z]/.test(name))).toBe(true)
    expect(
      tagged.every(({ responseSchema }) => !responseSchema || responseSchema.typeName.startsWith('Bf')),
    ).toBe(true)
  })
})

const base = { openapi: '3.0.3', info: { title: 't', version: '1' } }
const ok = (schema: object) => ({ 200: { description: 'ok', content: { 'application/json': { schema } } } })

/** A small document that holds what documents of the wild hold. */
const small = {
  ...base,
  paths: {
    '/users/{user-id}': {
      parameters: [
        { name: 'user-id', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } },
      ],
      get: {
        operationId: 'get-user',
        tags: ['users'],
        summary: 'One user.',
        parameters: [
          {
            name: 'fields',
            in: 'query',
            explode: false,
            schema: { type: 'array', items: { type: 'string' } },
          },
          { name: 'X-Tenant', in: 'header', schema: { type: 'string' } },
          { name: 'Authorization', in: 'header', schema: { type: 'string' } },
        ],
        responses: ok({ $ref: '#/components/schemas/User' }),
      },
      put: {
        operationId: 'putUser',
        requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
        responses: ok({ allOf: [{ $ref: '#/components/schemas/User' }] }),
      },
    },
    '/login': {
      post: {
        requestBody: {
          content: {
            'application/x-www-form-urlencoded': {
              schema: {
                type: 'object',
                required: ['name'],
                properties: { name: { type: 'string' }, age: { type: 'integer' } },
              },
            },
          },
        },
        responses: { 204: { description: 'none' } },
      },
    },
    '/avatar': {
      post: {
        operationId: 'avatar',
        requestBody: { required: true, content: { 'image/png': {} } },
        responses: { 204: { description: 'none' } },
      },
    },
  },
  components: {
    schemas: {
      Named: { type: 'object', required: ['first-name'], properties: { 'first-name': { type: 'string' } } },
      User: {
        allOf: [
          { $ref: '#/components/schemas/Named' },
          {
            type: 'object',
            required: ['id', 'maybe'],
            properties: {
              id: { type: 'integer', format: 'int64', description: 'The id.' },
              maybe: { type: 'string', nullable: true },
              boss: { $ref: '#/components/schemas/User' },
              reports: { type: 'array', items: { $ref: '#/components/schemas/User' } },
              address: { type: 'object', properties: { city: { type: 'string' } } },
              free: { type: 'object' },
              either: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
              score: { type: 'number' },
            },
          },
        ],
      },
    },
  },
}

describe('endpointsFromOpenApi', () => {
  const importSmall = (options: OpenApiOptions = {}) =>
    endpointsFromOpenApi(small, { onSkip: () => {}, ...options })

  it('makes an endpoint of an operation, with names that GraphQL allows', async () => {
    const [user, put, login] = await importSmall()
    expect(user).toMatchObject({
      name: 'getUser',
      method: 'GET',
      path: '/users/{userId}',
      args: { userId: 'Long!', fields: '[String]', XTenant: 'String' },
      queryParams: { fields: '{fields}' },
      queryArrayFormat: 'comma',
      headers: { 'X-Tenant': '{XTenant}' },
      description: 'One user.',
      returnType: 'User',
    })
    expect(put).toMatchObject({
      args: { userId: 'Long!', body: 'JSON!' },
      bodyTemplate: '{body}',
      returnType: 'User',
    })
    expect(login).toMatchObject({
      name: 'postLogin',
      args: { name: 'String!', age: 'Int' },
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      bodyTemplate: 'name={name}&age={age}',
    })
  })

  it('types allOf, nullable, nested, recursive and free-form schemas', async () => {
    const [user] = await importSmall({ trustRequired: true })
    expect(user?.responseSchema).toEqual({
      typeName: 'User',
      fields: {
        firstName: { type: 'String!', key: 'first-name' },
        id: { type: 'Long!', description: 'The id.' },
        maybe: { type: 'String' },
        boss: { type: 'User' },
        reports: { type: '[User]' },
        address: { type: 'User_address', fields: { city: { type: 'String' } } },
        free: { type: 'JSON' },
        either: { type: 'JSON' },
        score: { type: 'Float' },
      },
    })
  })

  it('makes nothing non-null unless it is told to trust the document', async () => {
    const [user] = await importSmall()
    expect(user?.responseSchema?.fields['id']).toEqual({ type: 'Long', description: 'The id.' })
  })

  it('answers through the plugin', async () => {
    const backend = cleanup.use(
      await startRestBackend(({ rawUrl }) => ({
        json: {
          id: 1,
          'first-name': rawUrl,
          boss: { id: 2, 'first-name': 'B', reports: [{ id: 1, 'first-name': 'A' }] },
        },
      })),
    )
    const connector = cleanup.use(
      createRestConnector('o', { baseUrl: backend.url, endpoints: await importSmall() }),
    )
    const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false })
    const query = '{ getUser(userId: 7, fields: ["a", "b"]) { id firstName boss { reports { firstName } } } }'
    const response = await yoga.fetch(`http://yoga/graphql?query=${encodeURIComponent(query)}`)
    expect(await response.json()).toEqual({
      data: {
        getUser: { id: '1', firstName: '/users/7?fields=a%2Cb', boss: { reports: [{ firstName: 'A' }] } },
      },
    })
  })

  it('lists what cannot be an endpoint, unless it is left out', async () => {
    await expect(endpointsFromOpenApi(small)).rejects.toThrow(
      '1 operations cannot be endpoints; leave them out with include, or set onSkip:\nPOST /avatar: its required parameter "body" (image/png) cannot be sent',
    )
    const some = await endpointsFromOpenApi(small, { include: ['putUser'] })
    expect(some.map(({ name }) => name)).toEqual(['putUser'])
  })

  it('refuses an invalid document when validation is asked for', async () => {
    await expect(
      endpointsFromOpenApi({ ...base, paths: { '/x': { get: {} } } }, { validate: true }),
    ).rejects.toThrow('the OpenAPI document is not valid')
    expect(await importSmall({ validate: true })).toHaveLength(3)
  })

  it.each([
    ['no OpenAPI', { hello: 1 }, 'OpenAPI'],
    ['Swagger 2', { swagger: '2.0', info: base.info, paths: {} }, 'is not OpenAPI 3'],
    ['a missing file', '/no/such/file.yaml', 'the OpenAPI document cannot be read'],
    ['an address', 'https://example.com/openapi.json', 'documents are not downloaded'],
    [
      'a $ref to nowhere',
      { ...base, paths: { '/x': { get: { responses: ok({ $ref: '#/components/schemas/No' }) } } } },
      '/components/schemas/No',
    ],
  ])('refuses %s', async (_, document, message) => {
    await expect(endpointsFromOpenApi(document)).rejects.toThrow(message)
    await expect(endpointsFromOpenApi(document)).rejects.toMatchObject({ code: 'REST_CONFIG' })
  })
})
