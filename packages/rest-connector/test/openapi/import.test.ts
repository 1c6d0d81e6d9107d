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
  describeFinding,
  importOpenApi,
  useRestConnector,
  type OpenApiOptions,
} from '../../src/index.ts'
import type { OpenApiDocument } from '../../src/openapi/openapi-document.ts'
import { readDocument } from '../../src/openapi/files/read-document.ts'
import { sampleOf } from './sample.ts'

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
    const { endpoints: declared, types, findings } = await importOpenApi(blockfrost)
    // A path with a server of its own is asked of the mock, too.
    const endpoints = declared.map((endpoint) => ({ ...endpoint, baseUrl: undefined }))
    const document = await readDocument(blockfrost)
    const backend = cleanup.use(await mockOf(document))
    const connector = cleanup.use(
      createRestConnector('blockfrost', {
        baseUrl: backend.url,
        endpoints,
        types,
        maxRequestsPerOperation: 0,
      }),
    )
    const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false, maskedErrors: false })
    const query = connector.schema.getQueryType() as GraphQLObjectType
    const fields = Object.values(query.getFields())
    expect(fields.length).toBeGreaterThan(80)
    // What is left out takes a body that nobody can send yet.
    const told = findings.map(describeFinding).filter((line) => !line.includes(': the format "'))
    expect(told.filter((line) => !line.includes('is skipped'))).toEqual([])
    expect(told.length).toBeLessThan(4)

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
  }, 240_000)

  it('can be narrowed by tags', async () => {
    const all = await importOpenApi(blockfrost)
    const { endpoints, types } = await importOpenApi(blockfrost, { tags: ['Cardano » Epochs'] })
    expect(endpoints.length).toBeGreaterThan(2)
    expect(endpoints.length).toBeLessThan(all.endpoints.length / 2)
    expect(Object.keys(types).length).toBeLessThan(Object.keys(all.types).length)
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

describe('importOpenApi', () => {
  const importSmall = (options: OpenApiOptions = {}) => importOpenApi(small, options)

  it('makes an endpoint of an operation, with names that GraphQL allows', async () => {
    const { endpoints, types } = await importSmall()
    const [user, put, login] = endpoints
    expect(user).toMatchObject({
      name: 'getUser',
      method: 'GET',
      path: '/users/{user-id}',
      parameters: [
        { name: 'user-id', in: 'path', arg: 'userId' },
        { name: 'fields', in: 'query', explode: false },
        { name: 'X-Tenant', in: 'header', arg: 'xTenant' },
      ],
      args: {
        userId: { type: 'Long!' },
        fields: { type: '[String]' },
        xTenant: { type: 'String' },
      },
      description: 'One user.',
      returnType: 'User',
    })
    expect(put).toMatchObject({
      args: { userId: { type: 'Long!' }, input: { type: 'JSON!' } },
      returnType: 'User',
    })
    expect(login).toMatchObject({
      name: 'postLogin',
      returnType: 'Boolean',
      answer: 'none',
      body: { contentType: 'application/x-www-form-urlencoded' },
    })
    expect(types['User']).toMatchObject({ kind: 'object' })
  })

  it('types allOf, nullable, nested, recursive and free-form schemas', async () => {
    const { types } = await importSmall({ trustRequired: true })
    expect(types['User']).toEqual({
      kind: 'object',
      fields: {
        firstName: { type: 'String!', key: 'first-name' },
        id: { type: 'Long!', description: 'The id.' },
        maybe: { type: 'String' },
        boss: { type: 'User' },
        reports: { type: '[User]' },
        address: { type: 'UserAddress' },
        free: { type: 'JSON' },
        either: { type: 'JSON' },
        score: { type: 'Float' },
      },
    })
    expect(types['UserAddress']).toEqual({ kind: 'object', fields: { city: { type: 'String' } } })
  })

  it.each([
    [false, 'Long', 'String'],
    [['User'], 'Long!', 'String!'],
    [['User.id'], 'Long!', 'String'],
  ])('trusting %j, an id is %s and a name %s', async (trustRequired, id, name) => {
    const { types } = await importSmall({ trustRequired })
    expect(types['User']).toMatchObject({ fields: { id: { type: id }, firstName: { type: name } } })
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
    const { endpoints, types } = await importSmall()
    const connector = cleanup.use(createRestConnector('o', { baseUrl: backend.url, endpoints, types }))
    const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false })
    const query = '{ getUser(userId: 7, fields: ["a", "b"]) { id firstName boss { reports { firstName } } } }'
    const response = await yoga.fetch(`http://yoga/graphql?query=${encodeURIComponent(query)}`)
    expect(await response.json()).toMatchObject({
      data: { getUser: { id: '1', boss: { reports: [{ firstName: 'A' }] } } },
    })
    expect(backend.requests[0]?.url.pathname).toBe('/users/7')
    expect(backend.requests[0]?.url.searchParams.get('fields')).toBe('a,b')
  })

  it.each([
    ['no OpenAPI', { hello: 1 }, 'expected OpenAPI 3 or Swagger 2'],
    ['a missing file', '/no/such/file.yaml', 'the OpenAPI document cannot be read'],
    [
      'an address where nobody is',
      'http://127.0.0.1:1/openapi.json',
      /cannot be read: http:.*(ECONNREFUSED|bad port)/,
    ],
  ])('refuses %s', async (_, document, message) => {
    await expect(importOpenApi(document)).rejects.toThrow(message)
    await expect(importOpenApi(document)).rejects.toMatchObject({ code: 'REST_CONFIG' })
  })
})
