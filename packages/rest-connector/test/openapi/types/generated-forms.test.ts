import { printSchema, validateSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { createRestConnector, importOpenApi } from '../../../src/index.ts'

// Forms that generators write, and what a person would make of them.

const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` })
const string = { type: 'string' }

/** The definitions of a document in which one operation gives a schema and takes it. */
async function definitionsOf(schemas: object, given: object, taken?: object, version = '3.1.0') {
  const json = (schema: object): object => ({ content: { 'application/json': { schema } } })
  const document = {
    openapi: version,
    info: { title: 't', version: '1' },
    components: { schemas },
    paths: {
      '/pet': {
        get: { operationId: 'pet', responses: { 200: json(given) } },
        ...(taken && { put: { operationId: 'setPet', requestBody: json(taken), responses: { 204: {} } } }),
      },
    },
  }
  const { findings, ...imported } = await importOpenApi(document, { env: {} })
  const connector = createRestConnector('c', { ...imported, baseUrl: 'http://127.0.0.1:1' })
  expect(validateSchema(connector.schema)).toEqual([])
  const sdl = printSchema(connector.schema)
  await connector.close()
  return { findings, types: imported.types as Record<string, any>, sdl }
}

describe('a number that may come as text, as ASP.NET Core writes it', () => {
  it.each<[object, string]>([
    [{ type: ['integer', 'string'], format: 'int32', pattern: '^-?(?:0|[1-9]\\d*)$' }, 'Int'],
    [{ type: ['null', 'integer', 'string'], format: 'int64' }, 'Long'],
    [{ type: ['number', 'string'], format: 'double' }, 'Float'],
    [{ format: 'int32', pattern: '^-?(?:0|[1-9]\\d*)$' }, 'Int'],
    [{ format: 'double', nullable: true }, 'Float'],
    [{ type: ['integer', 'string'] }, 'JSON'],
    [{ type: ['boolean', 'string'], format: 'int32' }, 'JSON'],
    [{ type: 'string', format: 'int64' }, 'String'],
    [{ format: 'date' }, 'JSON'],
  ])('%j is %s', async (value, type) => {
    const pet = { type: 'object', properties: { value } }
    const { types } = await definitionsOf({ Pet: pet }, ref('Pet'), ref('Pet'))
    expect([types['Pet'], types['PetInput']].map(({ fields }) => fields.value.type)).toEqual([type, type])
  })
})

describe('a choice of all that is made of a base', () => {
  const discriminator = { propertyName: 'kind' }
  const mapping = { c: '#/components/schemas/Cat', d: '#/components/schemas/Dog' }
  const Pet = {
    type: 'object',
    properties: { kind: string, name: string },
    discriminator: { ...discriminator, mapping },
  }
  const of = (own: string): object => ({
    allOf: [ref('Pet'), { type: 'object', properties: { [own]: string } }],
  })
  const schemas = { Pet, Cat: of('meow'), Dog: of('bark') }
  const both = [ref('Cat'), ref('Dog')]

  it.each<[string, object]>([
    ['springdoc', { oneOf: both }],
    ['Swashbuckle', { oneOf: both, discriminator: Pet.discriminator }],
    ['the base itself among them', { anyOf: [ref('Pet'), ...both] }],
    ['nullable', { oneOf: [...both, { type: 'null' }] }],
  ])('is the base: %s', async (_name, given) => {
    const { types, sdl } = await definitionsOf(schemas, { type: 'array', items: given }, given)
    expect(Object.keys(types)).toEqual([
      'Cat',
      'CatInput',
      'Dog',
      'DogInput',
      'Pet',
      'PetBase',
      'PetBaseInput',
      'PetInput',
    ])
    expect(sdl).toContain('pet: [Pet]')
  })

  it('of some of them is told by the discriminator of the base', async () => {
    const more = { ...schemas, Fish: of('swim') }
    const { types } = await definitionsOf(more, { type: 'array', items: { oneOf: both } })
    const choice = Object.values(types).find(({ kind }) => kind === 'interface')
    expect(choice.discriminator).toEqual({ key: 'kind', types: { c: 'Cat', d: 'Dog' } })
    expect(Object.keys(choice.members)).toEqual(['Cat', 'Dog'])
  })

  it('keeps its own name where it has one', async () => {
    const { types } = await definitionsOf({ ...schemas, Animal: { oneOf: both } }, ref('Animal'))
    expect(types['Animal']).toMatchObject({
      kind: 'interface',
      discriminator: { types: { c: 'Cat', d: 'Dog' } },
    })
  })

  it('is none of another base, or of one without a discriminator', async () => {
    const { discriminator: _, ...bare } = Pet
    const { sdl } = await definitionsOf({ ...schemas, Pet: bare }, { oneOf: both })
    expect(sdl).toContain('pet: JSON')
    const other = { type: 'object', properties: { name: string } }
    expect(
      (await definitionsOf({ ...schemas, Other: other }, { oneOf: [...both, ref('Other')] })).sdl,
    ).toContain('pet: JSON')
  })
})

describe('a base that lists those that are made of it, as a choice and by allOf', () => {
  it('is an interface of them', async () => {
    const Pet = {
      type: 'object',
      required: ['kind'],
      properties: { kind: string, name: string },
      discriminator: { propertyName: 'kind' },
      oneOf: [ref('Cat'), ref('Dog')],
    }
    const of = (own: string): object => ({
      allOf: [ref('Pet'), { type: 'object', properties: { [own]: string } }],
    })
    const { types } = await definitionsOf({ Pet, Cat: of('meow'), Dog: of('bark') }, ref('Pet'), ref('Pet'))
    expect(types['Pet']).toMatchObject({
      kind: 'interface',
      discriminator: { types: { Cat: 'Cat', Dog: 'Dog' } },
    })
    expect(Object.keys(types['Cat'].fields).toSorted()).toEqual(['kind', 'meow', 'name'])
    expect(types['PetInput']).toMatchObject({
      isOneOf: true,
      fields: { cat: { type: 'CatInput' }, dog: { type: 'DogInput' } },
    })
  })
})

describe('a value of the discriminator that stands at the schema itself', () => {
  it.each([
    ['AutoRest', (own: object) => ({ allOf: [ref('Pet'), own], 'x-ms-discriminator-value': 'cat-1' })],
    ['go-swagger', (own: object) => ({ allOf: [ref('Pet'), { ...own, 'x-class': 'cat-1' }] })],
  ])('stands for it and not for what is made of it: %s', async (_name, write) => {
    const schemas = {
      Pet: { type: 'object', properties: { kind: string }, discriminator: { propertyName: 'kind' } },
      Cat: write({ type: 'object', properties: { meow: string } }),
      Kitten: { allOf: [ref('Cat'), { type: 'object', properties: { age: string } }] },
    }
    const { types } = await definitionsOf(schemas, ref('Pet'))
    expect(types['Pet'].discriminator.types).toEqual({ 'cat-1': 'Cat', Kitten: 'Kitten', Pet: 'PetBase' })
  })
})

describe('members of a union that have no names', () => {
  const tagged = (kind: string, own: string): object => ({
    type: 'object',
    required: ['kind', own],
    properties: { kind: { type: 'string', enum: [kind] }, name: string, [own]: string },
  })

  it('are called by their tag, which is a discriminator', async () => {
    const Pet = { oneOf: [tagged('house-cat', 'meow'), tagged('dog', 'bark')] }
    const { types } = await definitionsOf({ Pet }, ref('Pet'), ref('Pet'))
    expect(types['Pet']).toMatchObject({
      kind: 'interface',
      discriminator: { key: 'kind', types: { 'house-cat': 'PetHouseCat', dog: 'PetDog' } },
    })
    expect(Object.keys(types['PetInput'].fields)).toEqual(['houseCat', 'dog'])
  })

  it('are called by the schema that they are made of', async () => {
    const Pet = { type: 'object', properties: { id: string }, oneOf: [ref('Cat'), ref('Dog')] }
    const one = (own: string): object => ({ type: 'object', required: [own], properties: { [own]: string } })
    const { types } = await definitionsOf({ Pet, Cat: one('meow'), Dog: one('bark') }, ref('Pet'), ref('Pet'))
    expect(Object.keys(types['Pet'].members)).toEqual(['PetCat', 'PetDog'])
    expect(Object.keys(types['PetInput'].fields)).toEqual(['cat', 'dog'])
  })

  it('are told by a tag that each has for itself only', async () => {
    const Pet = { oneOf: [tagged('cat', 'meow'), tagged('cat', 'bark')] }
    const { types } = await definitionsOf({ Pet }, ref('Pet'))
    expect([types['Pet'].kind, types['Pet'].discriminator]).toEqual(['union', undefined])
  })
})

describe('a schema of two sides, as FastAPI writes it', () => {
  const side = (own: string): object => ({ type: 'object', properties: { name: string, [own]: string } })

  it('is one name, read and written', async () => {
    const { types } = await definitionsOf(
      { 'Pet-Input': side('a'), 'Pet-Output': side('b') },
      ref('Pet-Output'),
      ref('Pet-Input'),
    )
    expect(Object.keys(types)).toEqual(['Pet', 'PetInput'])
  })

  it('keeps its own where the other one is taken', async () => {
    const schemas = { 'Pet-Input': side('a'), 'Pet-Output': side('b'), Pet: side('c') }
    const { types, findings } = await definitionsOf(schemas, ref('Pet-Output'))
    expect(Object.keys(types)).toEqual(['PetOutput'])
    expect(findings).toMatchObject([
      {
        message: 'Pet-Output becomes the type "PetOutput", because Pet already has the name "Pet"',
        fix: 'choose a name with rename',
      },
    ])
  })
})

describe('numbers that are an enum', () => {
  it.each(['x-enum-varnames', 'x-enumNames'])('have the names of %s', async (key) => {
    const { types } = await definitionsOf(
      { Size: { type: 'integer', enum: [0, 1], [key]: ['Small', 'ExtraLarge'] } },
      ref('Size'),
    )
    expect(types['Size'].values).toEqual({ SMALL: { value: 0 }, EXTRA_LARGE: { value: 1 } })
  })

  it.each([[['Small']], [['Small', 'small']], [['Small', 7]], ['Small']])(
    'have none of %j',
    async (names) => {
      const { types } = await definitionsOf(
        { Size: { type: 'integer', enum: [0, 1], 'x-enum-varnames': names } },
        ref('Size'),
      )
      expect(Object.keys(types['Size'].values)).toEqual(['_0', '_1'])
    },
  )

  it('are texts by their values', async () => {
    const { types } = await definitionsOf(
      { Size: { type: 'string', enum: ['s'], 'x-enum-varnames': ['Small'] } },
      ref('Size'),
    )
    expect(Object.keys(types['Size'].values)).toEqual(['S'])
  })
})

describe('a reference with a remark beside it, as AWS writes it', () => {
  it('is the type that it refers to, with what is said of the member', async () => {
    const owner = { allOf: [ref('Owner'), { description: 'Who feeds it.' }, { xml: { attribute: true } }] }
    const age = { allOf: [ref('Age'), { description: 'In years.', 'x-unit': 'a' }] }
    const schemas = {
      Pet: { type: 'object', properties: { owner, age } },
      Owner: { type: 'object', description: 'A person.', properties: { name: string } },
      Age: { type: 'integer', format: 'int32' },
    }
    const { types } = await definitionsOf(schemas, ref('Pet'), ref('Pet'))
    expect(Object.keys(types)).toEqual(['Owner', 'OwnerInput', 'Pet', 'PetInput'])
    expect(types['Pet'].fields).toEqual({
      owner: { type: 'Owner', description: 'Who feeds it.' },
      age: { type: 'Int', description: 'In years.' },
    })
  })

  it.each([{ properties: { more: string } }, { required: ['name'] }, { writeOnly: true }])(
    'is another type with %j',
    async (part) => {
      const owner = { allOf: [ref('Owner'), part] }
      const Owner = { type: 'object', properties: { name: string } }
      const { types } = await definitionsOf(
        { Pet: { type: 'object', properties: { owner, a: string } }, Owner },
        ref('Pet'),
        ref('Pet'),
      )
      expect(types['PetInput'].fields.owner.type).toBe('PetOwnerInput')
    },
  )
})

it('says nothing of names that are text', async () => {
  const map = (propertyNames: object): object => ({
    type: 'object',
    propertyNames,
    additionalProperties: string,
  })
  expect((await definitionsOf({}, map({ type: 'string' }))).findings).toEqual([])
  expect((await definitionsOf({}, map({ pattern: '^x' }))).findings).toHaveLength(1)
})
