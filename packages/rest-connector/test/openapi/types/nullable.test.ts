import { describe, expect, it } from 'vitest'
import { importOpenApi } from '../../../src/index.ts'

const Owner = { type: 'object', properties: { name: { type: 'string' } } }
const ref = { $ref: '#/components/schemas/Owner' }

/** The types of a property that is read and written. */
async function typesOf(version: string, value: object) {
  const Pet = { type: 'object', required: ['value'], properties: { value } }
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } }
  const { types, findings } = await importOpenApi(
    {
      openapi: version,
      info: { title: 't', version: '1' },
      servers: [{ url: 'https://a.example' }],
      components: {
        schemas: {
          Pet,
          Owner,
          Null: { enum: [null] },
          AnyValue: { nullable: true, description: 'any' },
          Status: { type: 'string', enum: ['a', 'b'] },
        },
      },
      paths: {
        '/pet': {
          get: { operationId: 'pet', responses: { 200: { description: 'ok', content } } },
          put: { operationId: 'setPet', requestBody: { content }, responses: { 204: { description: 'ok' } } },
        },
      },
    },
    { env: {}, trustRequired: true },
  )
  expect(findings).toEqual([])
  const of = (name: string): unknown => (types[name] as { fields: any } | undefined)?.fields['value']?.type
  return [of('Pet'), of('PetInput')]
}

/** What generators write for a value that may be null. */
const writings: readonly (readonly [string, string, (schema: object) => object])[] = [
  ['schemars', '3.0.3', (schema) => ({ anyOf: [schema, { nullable: true }] })],
  ['schemars, null first', '3.0.3', (schema) => ({ anyOf: [{ nullable: true }, schema] })],
  ['oneOf', '3.0.3', (schema) => ({ oneOf: [schema, { nullable: true }] })],
  [
    'with an empty enum of null',
    '3.0.3',
    (schema) => ({ oneOf: [schema, { enum: [null], nullable: true }] }),
  ],
  ['described', '3.0.3', (schema) => ({ anyOf: [schema, { nullable: true, description: 'or nothing' }] })],
  ['allOf', '3.0.3', (schema) => ({ allOf: [schema], nullable: true })],
  ['allOf of both', '3.0.3', (schema) => ({ allOf: [schema, { nullable: true }] })],
  ['utoipa', '3.1.0', (schema) => ({ oneOf: [{ type: 'null' }, schema] })],
  ['FastAPI', '3.1.0', (schema) => ({ anyOf: [schema, { type: 'null' }], title: 'Value' })],
  ['types', '3.1.0', (schema) => ({ anyOf: [schema, { type: ['null'] }] })],
  ['a constant', '3.1.0', (schema) => ({ anyOf: [schema, { const: null }] })],
]

describe.each(writings)('null as %s writes it (%s)', (_name, version, write) => {
  it.each<[string, object, string, string]>([
    ['an object', ref, 'Owner', 'OwnerInput'],
    ['an enum', { $ref: '#/components/schemas/Status' }, 'Status', 'Status'],
    ['text', { type: 'string', format: 'date' }, 'Date', 'Date'],
    ['a list', { type: 'array', items: ref }, '[Owner]', '[OwnerInput]'],
  ])('beside %s leaves its type', async (_what, schema, output, input) => {
    expect(await typesOf(version, write(schema))).toEqual([output, input])
  })
})

it('null as drf-spectacular writes it, as an enum of its own, leaves the other values', async () => {
  const status = { type: 'string', enum: ['a', 'b'] }
  for (const nothing of [{ enum: [null] }, { $ref: '#/components/schemas/Null' }])
    expect(await typesOf('3.0.3', { oneOf: [status, { enum: [''] }, nothing] })).toEqual([
      'PetValue',
      'PetValue',
    ])
})

it('an object that may be null is no mark of null', async () => {
  const value = {
    anyOf: [ref, { type: 'object', nullable: true, properties: { other: { type: 'string' } } }],
  }
  expect((await typesOf('3.0.3', value))[0]).toBe('JSON')
})

describe('a component that says no more than that it may be null', () => {
  const any = { $ref: '#/components/schemas/AnyValue' }

  it.each([['oneOf'], ['anyOf']])('is any value in %s, and no mark of null', async (key) => {
    for (const other of [{ type: 'string' }, ref])
      for (const options of [
        [other, any],
        [any, other],
      ])
        expect(await typesOf('3.0.3', { [key]: options })).toEqual(['JSON', 'JSON'])
  })

  it('narrows nothing in allOf', async () => {
    expect(await typesOf('3.0.3', { allOf: [ref, any] })).toEqual(['PetValue!', 'PetValueInput!'])
  })
})

it.each([
  [{ $ref: '#/components/schemas/AnyValue' }, 'JSON'],
  [{ $ref: '#/components/schemas/Null' }, 'String'],
  [{ type: 'string', nullable: true }, 'String'],
])('a value that %j is an option of may be null', async (option, type) => {
  const [output, input] = await typesOf('3.0.3', { oneOf: [{ type: 'string' }, option] })
  expect([output, input]).toEqual([type, type])
})

it.each([[{}], [{ description: 'anything' }], [{ title: 'Any' }]])(
  'an option that says nothing (%j) is any value, and no mere constraint',
  async (nothing) => {
    for (const key of ['oneOf', 'anyOf'])
      expect(await typesOf('3.1.0', { [key]: [{ type: 'string' }, nothing] })).toEqual(['JSON', 'JSON!'])
  },
)

it.each([
  [{ type: 'object', properties: { a: { type: 'string' } } }, ['PetValue!', 'PetValueInput!']],
  [{ type: 'string' }, ['String!', 'String!']],
  [{ enum: ['a', 'b'] }, ['PetValue', 'PetValue!']],
])('an option that says nothing leaves what %j says', async (value, types) => {
  const anyOf = [{}, { title: 'A' }, { required: ['a'] }]
  expect(await typesOf('3.1.0', { ...value, anyOf })).toEqual(types)
})
