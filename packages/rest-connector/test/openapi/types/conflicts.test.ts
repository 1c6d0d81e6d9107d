import { describe, expect, it } from 'vitest'
import { importOpenApi } from '../../../src/index.ts'

const string = { type: 'string' }
const integer = { type: 'integer' }
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

async function findingsOf(schema: object, isInput: boolean): Promise<readonly string[]> {
  const content = { 'application/json': { schema } }
  const { findings } = await importOpenApi(
    {
      openapi: '3.1.0',
      info: { title: 't', version: '1' },
      paths: {
        '/x': {
          post: {
            operationId: 'x',
            ...(isInput && { requestBody: { required: true, content } }),
            responses: { 200: { description: 'ok', ...(!isInput && { content }) } },
          },
        },
      },
      components: {
        schemas: {
          Base: { type: 'object', properties: { id: string, next: ref('Own') } },
          Own: { allOf: [ref('Base'), { properties: { next: ref('Own') } }] },
          Id: integer,
        },
      },
    },
    { env: {} },
  )
  return findings.map(({ message }) => message)
}

const both = (one: object, other: object) => ({
  allOf: [{ properties: { id: one } }, { properties: { id: other } }],
})

describe.each([true, false])('types of allOf, sent: %s', (isInput) => {
  it.each<[string, object, string]>([
    [
      'two scalars',
      both(string, integer),
      'declare incompatible types for the property "id": string, number',
    ],
    ['a scalar and a list', both(string, { type: 'array', items: string }), 'string, array'],
    ['a list and an object', both({ items: string }, { properties: { a: string } }), 'array, object'],
    ['a base', { allOf: [ref('Base'), { properties: { id: integer } }] }, 'string, number'],
    ['a reference', both(string, ref('Id')), 'string, number'],
    [
      'lists of types',
      both({ type: ['string', 'null'] }, { type: ['integer', 'boolean', 'null'] }),
      'number or boolean',
    ],
    ['an enum', both(integer, { enum: ['a'] }), 'number, string'],
    ['a constant', both({ const: true }, string), 'boolean, string'],
    [
      'next to allOf',
      { allOf: [{ properties: { id: string } }], properties: { id: integer } },
      'string, number',
    ],
    [
      'a value itself',
      { properties: { id: { allOf: [string, integer] } } },
      'declare incompatible types for the value: string, number',
    ],
  ])('are a finding if no value has both: %s', async (_, schema, text) => {
    expect(await findingsOf(schema, isInput)).toEqual([expect.stringContaining(text)])
  })

  it.each<[string, object]>([
    ['the same', both(string, string)],
    ['a narrower one', both({ type: 'number' }, integer)],
    ['one of several', both({ type: ['string', 'integer'] }, string)],
    ['no type', both(string, { description: 'd' })],
    ['null', both(string, { type: ['string', 'null'] })],
    ['an enum of it', both(string, { enum: ['a', null] })],
    ['itself', ref('Own')],
  ])('are none if a value can have both: %s', async (_, schema) => {
    expect(await findingsOf(schema, isInput)).toEqual([])
  })
})
