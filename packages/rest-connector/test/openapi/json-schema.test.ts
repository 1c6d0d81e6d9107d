import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { importOpenApi, type OpenApiImport } from '../../src/index.ts'

type Schema = Readonly<Record<string, unknown>>

const string = { type: 'string' }
const typeOf = { String: string, Boolean: { type: 'boolean' }, Float: { type: 'number' } }

function read(schema: Schema, schemas: object = {}, openapi = '3.1.0'): Promise<OpenApiImport> {
  const content = { 'application/json': { schema } }
  return importOpenApi({
    openapi,
    info: { title: 't', version: '1' },
    paths: {
      '/x': {
        post: {
          operationId: 'x',
          requestBody: { content },
          responses: { 200: { description: 'ok', content } },
        },
      },
    },
    components: { schemas },
  })
}

/** Where a schema may have properties: an object schema with some of them there. */
const WAYS: Readonly<Record<string, (properties: Schema, schema: Schema) => Schema>> = {
  'of its own': (properties, schema) => ({
    ...schema,
    properties: { ...(schema['properties'] as object), ...properties },
  }),
  'in allOf': (properties, schema) => ({
    ...schema,
    allOf: [...((schema['allOf'] as object[] | undefined) ?? []), { properties }],
  }),
  'of what is around it': (properties, schema) => ({ properties, allOf: [schema] }),
  'beside a reference': (properties) => ({ $ref: '#/components/schemas/Referred', properties }),
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  'in then': (properties, schema) => ({ ...schema, if: {}, then: { properties } }),
  'in else': (properties, schema) => ({ ...schema, if: {}, else: { properties } }),
  'in dependentSchemas': (properties, schema) => ({ ...schema, dependentSchemas: { a: { properties } } }),
}

describe('properties of an object, wherever JSON Schema lets them stand', () => {
  it('are all fields, in and out', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    const places = fc.uniqueArray(fc.constantFrom(...Object.keys(WAYS)), { minLength: 1 })
    const types = fc.infiniteStream(fc.constantFrom<keyof typeof typeOf>('String', 'Boolean', 'Float'))
    await fc.assert(
      fc.asyncProperty(places, types, async (ways, kinds) => {
        const expected: Record<string, { type: string }> = {}
        const schemas: Record<string, Schema> = {}
        let schema: Schema = { type: 'object', properties: { z: string } }
        for (const [index, way] of ways.entries()) {
          const type = kinds.next().value as keyof typeof typeOf
          const name = names[index] as string
          expected[name] = { type }
          if (way === 'beside a reference') schemas['Referred'] = schema
          schema = (WAYS[way] as (typeof WAYS)[string])({ [name]: typeOf[type] }, schema)
        }
        const found = (await read(schema, schemas)).types
        const fields = { z: { type: 'String' }, ...expected }
        expect([found['X'], found['XInput']]).toEqual([
          { kind: 'object', fields },
          { kind: 'input', fields },
        ])
      }),
    )
  })

  it('beside a reference are none before OpenAPI 3.1', async () => {
    const schema = { $ref: '#/components/schemas/Pet', properties: { a: string } }
    const pet = { type: 'object', properties: { b: string } }
    expect((await read(schema, { Pet: pet }, '3.0.3')).types['Pet']).toMatchObject({ fields: { b: {} } })
    expect((await read(schema, { Pet: pet }, '3.1.0')).types['X']).toMatchObject({ fields: { a: {}, b: {} } })
  })

  it.each([
    ['writeOnly in a part of allOf goes one way', 'writeOnly', [['a'], ['a', 'id']]],
    [
      'readOnly in a part of allOf may mean "set once" and goes both',
      'readOnly',
      [
        ['a', 'id'],
        ['a', 'id'],
      ],
    ],
  ])('%s', async (_, keyword, expected) => {
    const id = { allOf: [{ $ref: '#/components/schemas/Id' }, { [keyword]: true }] }
    const { types } = await read({ properties: { a: string, id } }, { Id: string })
    const fields = [types['X'], types['XInput']].map((type) => Object.keys((type as any).fields))
    expect(fields).toEqual(expected)
  })
})

describe('tuples', () => {
  it.each<[object, string]>([
    [{ prefixItems: [string, string], items: false }, '[String]'],
    [{ prefixItems: [string, string], maxItems: 2 }, '[String]'],
    [{ prefixItems: [string], items: string }, '[String]'],
    [{ allOf: [{ prefixItems: [string] }], items: string }, '[String]'],
    [{ prefixItems: [string] }, '[JSON]'],
    [{ prefixItems: [{ type: 'boolean' }], items: string }, '[JSON]'],
    [{ prefixItems: [string, { type: 'boolean' }], items: false }, '[JSON]'],
    [{ prefixItems: [{ properties: { a: string } }], items: false }, '[JSON]'],
  ])('%j is %s, in and out', async (schema, type) => {
    const { endpoints } = await read({ type: 'array', ...schema })
    expect(endpoints[0]).toMatchObject({ returnType: type, args: { input: { type } } })
  })
})
