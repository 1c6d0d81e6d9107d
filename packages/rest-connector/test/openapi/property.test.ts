import * as fc from 'fast-check'
import { validateSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { createRestConnector, importOpenApi, type OpenApiImport } from '../../src/index.ts'

/** Names as documents have them: equal in camel case, reserved, no names at all. */
const name = fc.oneof(
  fc.constantFrom(
    'Pet',
    'pet',
    'PetInput',
    'pet-input',
    'Query',
    'io.k8s.Pet',
    'a.b.Pet',
    '__x',
    '1st',
    'String',
    '+1',
    'é',
  ),
  fc.string({ minLength: 1, maxLength: 8 }),
)

const leaf = fc.oneof(
  fc.constantFrom<object>(
    {},
    { type: 'string' },
    { type: 'string', format: 'date-time', default: 'never' },
    { type: 'integer', default: 3 },
    { type: ['string', 'null'] },
    { type: 'boolean', default: 'yes' },
    { type: 'object' },
    { type: 'object', additionalProperties: { type: 'string' } },
    { const: 'a' },
    { enum: [true, false, null] },
    { $ref: '#/components/schemas/nobody' },
  ),
  fc.record({
    enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.constantFrom('asc', 'ASC', '+1', '-1', '', null)), {
      maxLength: 4,
    }),
  }),
)

const { schema } = fc.letrec<{ schema: object }>((tie) => {
  const properties = fc.dictionary(name, tie('schema'), { maxKeys: 4 })
  const required = fc.array(name, { maxLength: 2 })
  return {
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      name.map((to) => ({
        $ref: `#/components/schemas/${encodeURIComponent(to.replaceAll('~', '~0').replaceAll('/', '~1'))}`,
      })),
      fc.record({ type: fc.constant('object'), properties, required }),
      fc.record({ type: fc.constant('array'), items: tie('schema') }),
      fc.record({ type: fc.constant('object'), additionalProperties: tie('schema') }),
      fc.record({ oneOf: fc.array(tie('schema'), { maxLength: 3 }), properties, required }),
      fc.record({
        anyOf: fc.array(tie('schema'), { maxLength: 3 }),
        discriminator: fc.record({ propertyName: name }),
      }),
      fc.record({ allOf: fc.array(tie('schema'), { maxLength: 3 }), description: fc.string() }),
    ),
  }
})

const operation = fc.record({
  operationId: fc.option(name, { nil: undefined }),
  tags: fc.array(name, { maxLength: 1 }),
  deprecated: fc.boolean(),
  parameters: fc.array(
    fc.record({
      name,
      in: fc.constantFrom('query', 'header', 'path'),
      required: fc.boolean(),
      deprecated: fc.boolean(),
      schema,
    }),
    { maxLength: 2 },
  ),
  requestBody: fc.option(fc.record({ content: fc.record({ 'application/json': fc.record({ schema }) }) }), {
    nil: undefined,
  }),
  responses: fc.dictionary(
    fc.constantFrom('200', '201', '204', '2XX', 'default'),
    fc.record({
      content: fc.option(fc.record({ 'application/json': fc.record({ schema }) }), { nil: undefined }),
    }),
    { maxKeys: 3 },
  ),
})

const document = fc.record({
  openapi: fc.constant('3.1.0'),
  info: fc.constant({ title: 't', version: '1' }),
  paths: fc.dictionary(
    fc.oneof(
      fc.constantFrom('/a', '/a/{id}', '/a#b', '/a?b=c', '/A'),
      name.map((text) => `/${text}`),
    ),
    fc.dictionary(fc.constantFrom('get', 'put', 'post', 'delete', 'patch'), operation, { maxKeys: 2 }),
    { maxKeys: 4 },
  ),
  components: fc.record({ schemas: fc.dictionary(name, schema, { maxKeys: 5 }) }),
})

/** What is wrong with the schema of an import, and the names that it gives twice or too long. */
async function faultsOf({ endpoints, types }: OpenApiImport): Promise<readonly string[]> {
  const connector = createRestConnector('x', { baseUrl: 'http://127.0.0.1:1', endpoints, types })
  try {
    const errors = validateSchema(connector.schema).map(({ message }) => message)
    const names = endpoints.map((endpoint) => endpoint.name)
    return [
      ...errors.filter((message) => !message.startsWith('Query root type')),
      ...names.filter((name, index) => names.indexOf(name) !== index),
      ...Object.keys(types).filter(({ length }) => length > 80),
    ]
  } finally {
    await connector.close()
  }
}

describe('any document', () => {
  it.each([undefined, true])(
    'gives a valid schema with names of its own, trusting required: %s',
    async (trustRequired) => {
      await fc.assert(
        fc.asyncProperty(document, async (given) => {
          expect(await faultsOf(await importOpenApi(given, { trustRequired }))).toEqual([])
        }),
        { numRuns: 150 },
      )
    },
    120_000,
  )

  it('stands beside any other, and tells each name of its own that the other has', async () => {
    const namesOf = ({ endpoints, types }: OpenApiImport): readonly string[] =>
      [...endpoints.map((endpoint) => endpoint.name), ...Object.keys(types)].filter(
        (one) => one !== 'DateTime',
      )
    await fc.assert(
      fc.asyncProperty(document, document, async (first, second) => {
        const taken = namesOf(await importOpenApi(first))
        const alone = await importOpenApi(second, { source: 'shop' })
        const beside = await importOpenApi(second, { source: 'shop', taken })
        expect(await faultsOf(beside)).toEqual([])
        expect(namesOf(beside).filter((one) => taken.includes(one))).toEqual([])
        expect(beside.endpoints).toHaveLength(alone.endpoints.length)
        const told = beside.findings.flatMap(
          ({ message }) => /is called (\w+), because/.exec(message)?.[1] ?? [],
        )
        const given = beside.endpoints.map((endpoint) => endpoint.name)
        const moved = given.filter((_, index) => taken.includes(alone.endpoints[index]?.name ?? ''))
        expect(told).toEqual(expect.arrayContaining(moved))
        expect(namesOf(beside)).toEqual(expect.arrayContaining(told))
      }),
      { numRuns: 150 },
    )
  }, 120_000)

  it('counts every operation as a field or as a finding', async () => {
    await fc.assert(
      fc.asyncProperty(document, async (given) => {
        const { endpoints, findings } = await importOpenApi(given)
        const left = findings.filter(({ message }) => /^[A-Z]+ .* is skipped: /s.test(message))
        const all = Object.values(given.paths).flatMap((item) => Object.keys(item))
        expect(endpoints.length + left.length).toBe(all.length)
      }),
      { numRuns: 100 },
    )
  }, 120_000)

  it('keeps the names that it had when others come along which are no rivals', async () => {
    const more = {
      '/zz/unrelated': {
        get: {
          operationId: 'zzUnrelated',
          responses: {
            200: {
              content: { 'application/json': { schema: { $ref: '#/components/schemas/ZzUnrelated' } } },
            },
          },
        },
      },
    }
    const ZzUnrelated = {
      type: 'object',
      properties: { zz: { type: 'object', properties: { a: { type: 'string' } } } },
    }
    await fc.assert(
      fc.asyncProperty(document, fc.boolean(), async (given, isFirst) => {
        const before = await importOpenApi(given)
        const after = await importOpenApi({
          ...given,
          paths: isFirst ? { ...more, ...given.paths } : { ...given.paths, ...more },
          components: {
            schemas: isFirst
              ? { ZzUnrelated, ...given.components.schemas }
              : { ...given.components.schemas, ZzUnrelated },
          },
        })
        expect(after.endpoints.filter((endpoint) => endpoint.name !== 'zzUnrelated')).toEqual(
          before.endpoints,
        )
        const { ZzUnrelated: _, ZzUnrelatedZz: __, ...types } = after.types
        expect(types).toEqual(before.types)
      }),
      { numRuns: 100 },
    )
  }, 120_000)
})
