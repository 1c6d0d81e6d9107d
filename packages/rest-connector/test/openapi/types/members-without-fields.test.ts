import { expect, it } from 'vitest'
import { importOpenApi } from '../../../src/index.ts'

const string = { type: 'string' }
const variant = (own: string, more: object = {}): object => ({
  type: 'object',
  required: [own],
  properties: { [own]: string },
  ...more,
})
const options = [variant('a'), variant('b')]

async function findingsOf(Pet: object, isNamed = true): Promise<readonly unknown[]> {
  const schema = isNamed ? { $ref: '#/components/schemas/Pet' } : Pet
  const content = { 'application/json': { schema } }
  const responses = { 200: { description: 'ok', content } }
  const { findings } = await importOpenApi(
    {
      openapi: '3.1.0',
      info: { title: 't', version: '1' },
      servers: [{ url: 'https://a.example' }],
      components: { schemas: { Pet, Owner: variant('name', { patternProperties: { '^x-': string } }) } },
      paths: { '/pet': { get: { operationId: 'pet', responses } } },
    },
    { env: {} },
  )
  return findings
}

const pet = '#/components/schemas/Pet'

it.each<[string, object, string]>([
  ['patternProperties', variant('a', { patternProperties: { '^x-': string } }), 'patternProperties'],
  [
    'patternProperties beside no others',
    variant('a', { patternProperties: { '^x-': string }, additionalProperties: false }),
    'patternProperties',
  ],
  [
    'patternProperties of a part',
    { allOf: [variant('a'), { patternProperties: { '^x-': string } }] },
    'patternProperties',
  ],
  [
    'additionalProperties beside oneOf',
    { oneOf: options, additionalProperties: string },
    'additionalProperties',
  ],
  ['any others beside anyOf', { anyOf: options, additionalProperties: true }, 'additionalProperties'],
  [
    'additionalProperties beside an inner oneOf',
    { oneOf: [variant('c'), { oneOf: options, additionalProperties: string }] },
    'additionalProperties',
  ],
])('%s have no field, which is told once', async (_name, Pet, keyword) => {
  expect(await findingsOf(Pet)).toEqual([
    {
      place: pet,
      message: expect.stringMatching(new RegExp(`${keyword}.*have no field in Pet`)),
      fix: expect.stringContaining('additionalProperties'),
    },
  ])
})

it('a schema without a name is told at its operation', async () => {
  const findings = await findingsOf(variant('a', { patternProperties: { '^x-': string } }), false)
  expect(findings).toMatchObject([
    { place: '#/paths/~1pet/get', message: expect.stringContaining('in Pet') },
    { place: '#/paths/~1pet/get', message: expect.stringContaining('Pet already has the name "Pet"') },
  ])
})

it('a variant is told by itself', async () => {
  const Pet = { oneOf: [variant('a'), { $ref: '#/components/schemas/Owner' }] }
  expect(await findingsOf(Pet)).toMatchObject([{ place: '#/components/schemas/Owner' }])
})

it.each<[string, object]>([
  ['no pattern allows any', variant('a', { patternProperties: { '^x-': false } })],
  ['there is no pattern', variant('a', { patternProperties: {} })],
  ['they are among the others', variant('a', { patternProperties: { x: {} }, additionalProperties: true })],
  ['the object is JSON', { type: 'object', patternProperties: { '^x-': string } }],
  ['the choice is JSON', { oneOf: [string, variant('a')], additionalProperties: string }],
  ['a choice allows no others', { oneOf: options, additionalProperties: false }],
  ['the choice has properties', { oneOf: options, properties: { id: string }, additionalProperties: string }],
])('nothing is told where %s', async (_name, Pet) => {
  expect(await findingsOf(Pet)).toEqual([])
})
