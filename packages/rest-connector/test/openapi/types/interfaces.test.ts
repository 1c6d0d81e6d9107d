import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { isInterfaceType, isObjectType, isUnionType, printSchema, validateSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, importOpenApi, useRestConnector } from '../../../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const string = { type: 'string' }
const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: object): object => ({ 'application/json': { schema } })

function documentOf(schemas: object, given: object): object {
  return {
    openapi: '3.0.3',
    info: { title: 't', version: '1' },
    components: { schemas },
    paths: {
      '/pets': {
        get: {
          operationId: 'pets',
          responses: { 200: { content: json({ type: 'array', items: given }) } },
        },
        post: {
          operationId: 'addPet',
          requestBody: { content: json(given) },
          responses: { 204: {} },
        },
      },
    },
  }
}

async function serve(document: object, answer: () => unknown = () => []) {
  const backend = cleanup.use(await startRestBackend(() => ({ json: answer() })))
  const imported = await importOpenApi(document, { env: {} })
  const connector = cleanup.use(
    createRestConnector('c', { ...imported, baseUrl: backend.url, noRetry: true }),
  )
  const { schema } = connector
  expect(validateSchema(schema)).toEqual([])
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false, maskedErrors: false })
  const ask = async (query: string): Promise<any> => {
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    })
    return response.json()
  }
  return { ask, schema, backend, ...imported }
}

const discriminator = { propertyName: 'kind' }
const base = { type: 'object', required: ['kind'], properties: { kind: string, name: string }, discriminator }
const sub = (own: string, of = 'Pet'): object => ({
  allOf: [ref(of), { type: 'object', properties: { [own]: string } }],
})

describe('a schema with a discriminator that others are made of by allOf', () => {
  it('is an interface of them all, at every depth', async () => {
    const pets = [
      { kind: 'Cat', name: 'a', meow: 'm' },
      { kind: 'Kitten', name: 'b', meow: 'n', age: '1' },
    ]
    const schemas = { Pet: base, Cat: sub('meow'), Dog: sub('bark'), Kitten: sub('age', 'Cat') }
    const { ask, schema } = await serve(documentOf(schemas, ref('Pet')), () => pets)
    expect(isInterfaceType(schema.getType('Pet'))).toBe(true)
    expect(
      await ask('{ pets { __typename kind name ... on Cat { meow } ... on Kitten { meow age } } }'),
    ).toEqual({
      data: { pets: pets.map((pet) => ({ __typename: pet.kind, ...pet })) },
    })
  })

  it('is told by its mapping, and shows what it has in common where that has no such value', async () => {
    const schemas = {
      Pet: {
        ...base,
        discriminator: { ...discriminator, mapping: { c: '#/components/schemas/Cat', d: 'Dog' } },
      },
      Cat: sub('meow'),
      Dog: sub('bark'),
    }
    const pets = [{ kind: 'c' }, { kind: 'x', name: 'newer' }, { kind: 'd' }, { name: 'nobody' }]
    const { ask } = await serve(documentOf(schemas, ref('Pet')), () => pets)
    const { data, errors } = await ask('{ pets { __typename name } }')
    expect([data.pets, errors]).toEqual([
      [
        { __typename: 'Cat', name: null },
        { __typename: 'PetBase', name: 'newer' },
        { __typename: 'Dog', name: null },
        { __typename: 'PetBase', name: 'nobody' },
      ],
      undefined,
    ])
  })

  it.each([
    ['its name stands for', { ...base }],
    ['is an error where it is no object', { ...base }],
  ])('is a type of its own, which %s', async (what, schema) => {
    const isObject = what.startsWith('its name')
    const { ask } = await serve(documentOf({ Pet: schema, Cat: sub('meow') }, ref('Pet')), () => [
      isObject ? { kind: 'Pet', name: 'a' } : 'text',
    ])
    const { data, errors } = await ask('{ pets { __typename name } }')
    expect(data.pets).toEqual([isObject ? { __typename: 'PetBase', name: 'a' } : null])
    expect(errors?.length).toBe(isObject ? undefined : 1)
  })

  it('is an interface with one child, so that a second one breaks no query', async () => {
    const { schema } = await serve(documentOf({ Pet: base, Cat: sub('meow') }, ref('Pet')))
    expect(isInterfaceType(schema.getType('Pet'))).toBe(true)
  })

  it('is one of its children alone where it has no fields', async () => {
    const { schema, ask } = await serve(
      documentOf({ Pet: { type: 'object', discriminator }, Cat: sub('meow'), Dog: sub('bark') }, ref('Pet')),
      () => [{ kind: 'Cat', meow: 'm' }],
    )
    expect(schema.getType('PetBase')).toBeUndefined()
    expect((await ask('{ pets { ... on Cat { meow } } }')).data).toEqual({ pets: [{ meow: 'm' }] })
  })

  it('is one of its own types where a value stands for it', async () => {
    const kind = { type: 'string', enum: ['Pet', 'Cat'] }
    const schemas = { Pet: { ...base, properties: { ...base.properties, kind } }, Cat: sub('meow') }
    const { ask } = await serve(documentOf(schemas, ref('Pet')), () => [
      { kind: 'Pet', name: 'a' },
      { kind: 'Cat' },
    ])
    expect((await ask('{ pets { __typename name } }')).data.pets).toEqual([
      { __typename: 'PetBase', name: 'a' },
      { __typename: 'Cat', name: null },
    ])
  })

  it('is sent as one of them', async () => {
    const schemas = { Pet: base, Cat: sub('meow'), Dog: sub('bark') }
    const { ask, backend } = await serve(documentOf(schemas, ref('Pet')))
    expect(await ask('mutation { addPet(input: { cat: { kind: "Cat", meow: "m" } }) }')).toEqual({
      data: { addPet: true },
    })
    expect(backend.requests.at(-1)?.json()).toEqual({ kind: 'Cat', meow: 'm' })
  })

  it('is an object by itself where nobody is made of it, or more are than a query spells out', async () => {
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`Sub${n}`, sub('own')]))
    for (const others of [{}, many]) {
      const { schema, ask } = await serve(documentOf({ Pet: base, ...others }, ref('Pet')), () => [
        { name: 'a' },
      ])
      expect(isObjectType(schema.getType('Pet'))).toBe(true)
      expect(await ask('{ pets { name } }')).toEqual({ data: { pets: [{ name: 'a' }] } })
    }
  })
})

describe('Swagger 2, whose discriminator is a name,', () => {
  it.each(['Cat', 'Pet', 'Newer'])('tells subtypes as OpenAPI 3.0 does: %s', async (kind) => {
    const given = { openapi: documentOf({ Pet: base, Cat: sub('meow'), Dog: sub('bark') }, ref('Pet')) }
    const { components, paths, openapi: _, ...rest } = given.openapi as any
    const { pets } = { pets: paths['/pets'] }
    const schema = { type: 'array', items: ref('Pet') }
    const swagger = JSON.parse(
      JSON.stringify({
        ...rest,
        swagger: '2.0',
        definitions: { ...components.schemas, Pet: { ...base, discriminator: 'kind' } },
        paths: {
          '/pets': {
            get: { ...pets.get, responses: { 200: { schema } } },
            post: { ...pets.post, parameters: [{ name: 'pet', in: 'body', schema: ref('Pet') }] },
          },
        },
      }).replaceAll('#/components/schemas/', '#/definitions/'),
    )
    const answer = (): unknown => [{ kind, name: 'a', meow: 'm' }]
    const query = '{ pets { __typename kind name ... on Cat { meow } } }'
    const [old, wanted] = [await serve(swagger, answer), await serve(given.openapi, answer)]
    expect(printSchema(old.schema)).toBe(printSchema(wanted.schema))
    expect(isInterfaceType(old.schema.getType('Pet'))).toBe(true)
    const result = await old.ask(query)
    expect(result).toEqual(await wanted.ask(query))
    expect(result.data.pets[0]).toMatchObject({ __typename: kind === 'Cat' ? 'Cat' : 'PetBase', name: 'a' })
  })
})

describe('oneOf with a discriminator', () => {
  const variant = (own: string, shared: object): object => ({
    type: 'object',
    required: ['kind'],
    properties: { kind: string, shared, [own]: string },
  })
  const given = { oneOf: [ref('Cat'), ref('Dog')], discriminator }

  it('is an interface of what the variants share by name and type', async () => {
    const schemas = { Cat: variant('meow', string), Dog: variant('bark', string) }
    const { schema } = await serve(documentOf({ ...schemas, Pet: given }, ref('Pet')))
    const type = schema.getType('Pet')
    expect(isInterfaceType(type) && Object.keys(type.getFields())).toEqual(['kind', 'shared'])
  })

  it('leaves out what they have as different types', async () => {
    const schemas = { Cat: variant('meow', string), Dog: variant('bark', { type: 'boolean' }) }
    const { schema } = await serve(documentOf({ ...schemas, Pet: given }, ref('Pet')))
    const type = schema.getType('Pet')
    expect(isInterfaceType(type) && Object.keys(type.getFields())).toEqual(['kind'])
  })

  it('is a union where they share nothing', async () => {
    const kindOf = (name: string): object => ({
      type: 'object',
      required: ['kind'],
      properties: { kind: { type: 'string', enum: [name] }, [name]: string },
    })
    const schemas = { Cat: kindOf('Cat'), Dog: kindOf('Dog'), Pet: given }
    const { schema } = await serve(documentOf(schemas, ref('Pet')))
    expect(isUnionType(schema.getType('Pet'))).toBe(true)
  })
})

describe('properties beside oneOf', () => {
  it('go to every variant, and are sent with each', async () => {
    const variant = (own: string): object => ({
      type: 'object',
      required: [own],
      properties: { [own]: string },
    })
    const given = { type: 'object', properties: { shared: string }, oneOf: [ref('Cat'), ref('Dog')] }
    const schemas = { Cat: variant('meow'), Dog: variant('bark'), Pet: given }
    const { ask, backend } = await serve(documentOf(schemas, ref('Pet')), () => [
      { shared: 's', meow: 'm' },
      { shared: 't', bark: 'b' },
    ])
    const { data, errors } = await ask(
      '{ pets { ... on PetCat { shared meow } ... on PetDog { shared bark } } }',
    )
    expect([data?.pets, errors]).toEqual([
      [
        { shared: 's', meow: 'm' },
        { shared: 't', bark: 'b' },
      ],
      undefined,
    ])
    const variants = await ask('{ __type(name: "PetInput") { inputFields { name } } }')
    const [first] = variants.data.__type.inputFields.map(({ name }: { name: string }) => name)
    await ask(`mutation { addPet(input: { ${first}: { shared: "s", meow: "m" } }) }`)
    expect(backend.requests.at(-1)?.json()).toEqual({ shared: 's', meow: 'm' })
  })
})

describe('any hierarchy', () => {
  /** Schemas by their number, each made of one before it or of the base. */
  const hierarchy = fc
    .array(fc.record({ parent: fc.nat(), hasMapping: fc.boolean(), listsItself: fc.boolean() }), {
      minLength: 1,
      maxLength: 6,
    })
    .map((all) => all.map((one, index) => ({ ...one, name: `T${index}`, parent: one.parent % (index + 1) })))

  it('gives a valid schema that tells every value that it lists', async () => {
    await fc.assert(
      fc.asyncProperty(hierarchy, fc.boolean(), async (types, isOneOf) => {
        const mapping = Object.fromEntries(
          types
            .filter(({ hasMapping }) => hasMapping)
            .map(({ name }) => [`m-${name}`, `#/components/schemas/${name}`]),
        )
        const schemas: Record<string, object> = {
          Pet: { ...base, ...(!isOneOf && { discriminator: { ...discriminator, mapping } }) },
        }
        if (isOneOf) delete (schemas['Pet'] as { discriminator?: unknown }).discriminator
        for (const { name, parent } of types)
          schemas[name] = sub(`own${name}`, parent === 0 ? 'Pet' : `T${parent - 1}`)
        const given = isOneOf
          ? { oneOf: types.map(({ name }) => ref(name)), discriminator: { ...discriminator, mapping } }
          : ref('Pet')
        const value = ({ name, hasMapping }: (typeof types)[number]): string =>
          hasMapping ? `m-${name}` : name
        const pets = [...types.map((type) => ({ kind: value(type), name: 'n' })), { kind: 'unknown' }]
        const { ask } = await serve(documentOf(schemas, given), () => pets)
        const { data, errors } = await ask('{ pets { __typename ... on T0 { kind name } } }')
        const isAlone = isOneOf && types.length === 1
        if (isAlone) return
        // Of an inheritance, one that is newer than the document is the base.
        expect(data.pets.map((pet: any) => pet?.__typename)).toEqual([
          ...types.map(({ name }) => name),
          isOneOf ? undefined : 'PetBase',
        ])
        expect(errors?.length).toBe(isOneOf ? 1 : undefined)
        await cleanup.dispose()
      }),
      { numRuns: 40 },
    )
  })
})
