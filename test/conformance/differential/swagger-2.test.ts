import { createRestConnector, importOpenApi } from '@vinyasa/rest-connector'
import * as fc from 'fast-check'
import { printSchema } from 'graphql'
import { expect, it } from 'vitest'

// An API written in Swagger 2 and the same written in OpenAPI 3.0 is the same import: endpoints, types, findings.

type Node = Readonly<Record<string, unknown>>

/** What both say of one thing. */
interface Both {
  readonly old: Node
  readonly new: Node
}

const MODELS = ['Pet', 'Owner', 'Clinic', 'Cat'] as const

/** References stand in other places; all else of schemas is the same. */
const toOld = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', '#/definitions/'))

const leaf = fc.constantFrom<Node>(
  { type: 'string' },
  { type: 'string', enum: ['a-b', 'c'] },
  { type: 'string', format: 'date-time', description: 'when' },
  { type: 'integer', format: 'int32', minimum: 0 },
  { type: 'integer', format: 'int64' },
  { type: 'number' },
  { type: 'boolean', default: true },
)
const model = fc.constantFrom(...MODELS).map((name): Node => ({ $ref: `#/components/schemas/${name}` }))
const schema = fc.letrec<{ any: Node }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 2 },
    leaf,
    model,
    tie('any').map((items): Node => ({ type: 'array', items })),
    fc
      .dictionary(fc.constantFrom('id', 'name', 'owner', 'tags', 'in'), tie('any'), { maxKeys: 3 })
      .map((properties): Node => ({
        type: 'object',
        properties,
        required: Object.keys(properties).slice(0, 1),
      })),
    tie('any').map((additionalProperties): Node => ({ type: 'object', additionalProperties })),
  ),
})).any
const object = schema.map((one): Node =>
  one['type'] === 'object' && one['properties'] ? one : { type: 'object', properties: { one } },
)

const STYLES: Readonly<Record<string, Node>> = {
  csv: { style: 'form', explode: false },
  multi: { style: 'form', explode: true },
  ssv: { style: 'spaceDelimited', explode: false },
  pipes: { style: 'pipeDelimited', explode: false },
  tsv: { style: 'tabDelimited', explode: false },
}

const parameter: fc.Arbitrary<Both & { readonly key: string }> = fc
  .record({
    name: fc.constantFrom('size', 'filter', 'X-Sort', 'tags'),
    place: fc.constantFrom('query', 'header'),
    required: fc.boolean(),
    description: fc.constantFrom(undefined, 'what it is'),
    value: leaf.filter(({ description }) => description === undefined),
    list: fc.option(fc.constantFrom(undefined, ...Object.keys(STYLES)), { nil: null }),
  })
  .map(({ name, place, required, description, value, list }) => {
    const common = { name, in: place, ...(required && { required }), ...(description && { description }) }
    const format = place === 'header' && list !== null ? 'csv' : list
    if (format === null)
      return { key: `${place} ${name}`, old: { ...common, ...value }, new: { ...common, schema: value } }
    const items = { ...value, default: undefined }
    return {
      key: `${place} ${name}`,
      old: { ...common, type: 'array', items, ...(format !== undefined && { collectionFormat: format }) },
      new: {
        ...common,
        schema: { type: 'array', items },
        ...(place === 'header' ? { style: 'simple' } : STYLES[format ?? 'csv']),
      },
    }
  })

interface Operation {
  readonly method: string
  readonly place: number
  readonly parameters: readonly (Both & { readonly key: string })[]
  readonly body: Node | undefined
  readonly answer: Node | undefined
  readonly produces: string
  readonly isShared: boolean
  readonly tag: string | undefined
  readonly isDeprecated: boolean
}

const operation: fc.Arbitrary<Operation> = fc.record({
  method: fc.constantFrom('get', 'post', 'put', 'delete', 'patch'),
  place: fc.nat(2),
  parameters: fc.uniqueArray(parameter, { selector: ({ key }) => key, maxLength: 3 }),
  body: fc.option(object, { nil: undefined }),
  answer: fc.option(schema, { nil: undefined }),
  produces: fc.constantFrom('application/json', 'application/hal+json'),
  isShared: fc.boolean(),
  tag: fc.constantFrom(undefined, 'pets'),
  isDeprecated: fc.boolean(),
})

interface Api {
  readonly models: Readonly<Record<string, Node>>
  readonly operations: readonly Operation[]
}

const api: fc.Arbitrary<Api> = fc.record({
  models: fc.tuple(object, object, object, object).map(([pet, owner, clinic, cat]) => ({
    Pet: {
      ...pet,
      discriminator: { propertyName: 'kind' },
      properties: { ...(pet['properties'] as Node), kind: { type: 'string' } },
    },
    Owner: owner,
    Clinic: clinic,
    Cat: { allOf: [{ $ref: '#/components/schemas/Pet' }, cat] },
  })),
  operations: fc.uniqueArray(operation, {
    selector: ({ method, place }) => `${method} ${place}`,
    minLength: 1,
    maxLength: 5,
  }),
})

const PATHS = ['/pets', '/pets/{id}', '/owners/{id}/pets']
const hasBody = ({ method, body }: Operation): boolean =>
  body !== undefined && method !== 'get' && method !== 'delete'
const idOf = ({ method, place }: Operation): string => `${method}${place}`

function inSwagger2({ models, operations }: Api): Node {
  const parameters: Record<string, Node> = { id: { name: 'id', in: 'path', required: true, type: 'string' } }
  const responses: Record<string, Node> = {}
  const paths: Record<string, Record<string, unknown>> = {}
  for (const one of operations) {
    const path = PATHS[one.place] as string
    const answer = { description: 'ok', ...(one.answer && { schema: toOld(one.answer) }) }
    if (one.isShared) responses[idOf(one)] = answer
    const own = one.parameters.map((given, index) => {
      if (!one.isShared) return given.old
      parameters[`${idOf(one)}/${index}`] = given.old
      return { $ref: `#/parameters/${idOf(one)}~1${index}` }
    })
    const body = hasBody(one) ? [{ name: 'body', in: 'body', schema: toOld(one.body) }] : []
    const item = (paths[path] ??= path.includes('{') ? { parameters: [{ $ref: '#/parameters/id' }] } : {})
    item[one.method] = {
      ...(one.tag && { tags: [one.tag] }),
      ...(one.isDeprecated && { deprecated: true }),
      operationId: idOf(one),
      produces: [one.produces],
      consumes: ['application/json'],
      parameters: [...own, ...body],
      responses: { 200: one.isShared ? { $ref: `#/responses/${idOf(one)}` } : answer },
    }
  }
  const definitions = Object.entries(models).map(([name, { discriminator, ...model }]) => [
    name,
    { ...(toOld(model) as Node), ...(discriminator !== undefined && { discriminator: 'kind' }) },
  ])
  return {
    swagger: '2.0',
    info: { title: 't', version: '1' },
    host: 'api.example',
    basePath: '/v1',
    schemes: ['https'],
    parameters,
    responses,
    definitions: Object.fromEntries(definitions),
    paths,
  }
}

function inOpenApi3({ models, operations }: Api): Node {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const one of operations) {
    const path = PATHS[one.place] as string
    const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } }
    const item = (paths[path] ??= path.includes('{') ? { parameters: [id] } : {})
    item[one.method] = {
      ...(one.tag && { tags: [one.tag] }),
      ...(one.isDeprecated && { deprecated: true }),
      operationId: idOf(one),
      parameters: one.parameters.map((given) => given.new),
      ...(hasBody(one) && { requestBody: { content: { 'application/json': { schema: one.body } } } }),
      responses: {
        200: {
          description: 'ok',
          ...(one.answer && { content: { [one.produces]: { schema: one.answer } } }),
        },
      },
    }
  }
  return {
    openapi: '3.0.3',
    info: { title: 't', version: '1' },
    servers: [{ url: 'https://api.example/v1' }],
    components: { schemas: models },
    paths,
  }
}

async function imported(document: Node): Promise<unknown> {
  // As it is read from a file, in which nothing is twice the same object.
  const read = JSON.parse(JSON.stringify(document)) as Node
  const { endpoints, types, findings, baseUrl } = await importOpenApi(read, { env: {} })
  const connector = createRestConnector('api', { baseUrl: 'http://127.0.0.1:1', endpoints, types })
  const sdl = printSchema(connector.schema)
  await connector.close()
  return JSON.parse(
    JSON.stringify({ baseUrl, endpoints, sdl, findings: findings.map(({ message }) => message).sort() }),
  )
}

it('what Swagger 2 says is what OpenAPI 3.0 says, whatever the API', async () => {
  await fc.assert(
    fc.asyncProperty(api, async (given) => {
      expect(await imported(inSwagger2(given))).toEqual(await imported(inOpenApi3(given)))
    }),
    { numRuns: 250, seed: 1 },
  )
})
