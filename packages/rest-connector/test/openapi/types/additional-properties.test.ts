import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { printType, validateSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, importOpenApi, useRestConnector } from '../../../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const string = { type: 'string' }
const integer = { type: 'integer', format: 'int32' }

async function serve(Pet: object, answer: unknown = {}) {
  const backend = cleanup.use(await startRestBackend(() => ({ json: answer })))
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } }
  const { findings, ...api } = await importOpenApi(
    {
      openapi: '3.0.3',
      info: { title: 't', version: '1' },
      components: { schemas: { Pet: { type: 'object', ...Pet } } },
      paths: {
        '/pet': {
          get: { operationId: 'pet', responses: { 200: { description: 'ok', content } } },
          put: { operationId: 'setPet', requestBody: { content }, responses: { 204: { description: 'ok' } } },
        },
      },
    },
    { env: {}, baseUrl: backend.url },
  )
  expect(findings).toEqual([])
  const connector = cleanup.use(createRestConnector('c', { ...api, baseUrl: backend.url, noRetry: true }))
  expect(validateSchema(connector.schema)).toEqual([])
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false, maskedErrors: false })
  return {
    backend,
    sdl: (name: string): string => printType(connector.schema.getType(name) as never),
    async ask(query: string, variables: object = {}): Promise<any> {
      const response = await yoga.fetch('http://yoga/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
      })
      return response.json()
    },
  }
}

describe('additionalProperties beside properties', () => {
  const typed = { properties: { id: string, 'no-name': string }, additionalProperties: integer }

  it('are a field of entries, read and sent', async () => {
    const { ask, backend, sdl } = await serve(typed, { id: 'a', 'no-name': 'b', x: 1, constructor: 2 })
    expect(sdl('Pet')).toContain('additionalProperties: [IntEntry!]')
    expect(sdl('PetInput')).toContain('additionalProperties: [IntEntryInput!]')
    expect((await ask('{ pet { noName additionalProperties { key value } } }')).data.pet).toEqual({
      noName: 'b',
      additionalProperties: [
        { key: 'x', value: 1 },
        { key: 'constructor', value: 2 },
      ],
    })
    const entries = [
      { key: 'x', value: 1 },
      { key: 'y z', value: 2 },
    ]
    const query =
      'mutation ($e: [IntEntryInput!]) { setPet(input: { noName: "b", additionalProperties: $e }) }'
    expect((await ask(query, { e: entries })).errors).toBeUndefined()
    expect(backend.requests.at(-1)?.json()).toEqual({ 'no-name': 'b', x: 1, 'y z': 2 })
  })

  it.each([[true], [{}], [{ type: 'object', additionalProperties: true }]])(
    'without one type (%j) are JSON, read and sent',
    async (additionalProperties) => {
      const properties = { id: string }
      const { ask, backend, sdl } = await serve(
        { properties, additionalProperties },
        { id: 'a', b: { c: [1] } },
      )
      expect(sdl('Pet')).toContain('additionalProperties: JSON')
      expect((await ask('{ pet { id additionalProperties } }')).data.pet).toEqual({
        id: 'a',
        additionalProperties: { b: { c: [1] } },
      })
      for (const literal of ['additionalProperties: { b: 1 }', 'additionalProperties: null, id: null', '']) {
        expect((await ask(`mutation { setPet(input: { ${literal} }) }`)).errors).toBeUndefined()
        expect(backend.requests.at(-1)?.json()).toEqual(
          literal === '' ? {} : literal.includes('null') ? { id: null } : { b: 1 },
        )
      }
    },
  )

  it.each([false, undefined])('are no field where there are none: %s', async (additionalProperties) => {
    const { sdl } = await serve({ properties: { id: string }, additionalProperties })
    expect([sdl('Pet'), sdl('PetInput')].join()).not.toContain('additionalProperties')
  })

  it('go to every variant of a oneOf that they stand beside', async () => {
    const variant = (own: string): object => ({
      type: 'object',
      required: [own],
      properties: { [own]: string },
    })
    const { ask } = await serve(
      { properties: { id: string }, additionalProperties: string, oneOf: [variant('a'), variant('b')] },
      { id: '1', b: '2', c: '3' },
    )
    expect(
      (await ask('{ pet { ... on PetVariant2 { b additionalProperties { key value } } } }')).data.pet,
    ).toEqual({
      b: '2',
      additionalProperties: [{ key: 'c', value: '3' }],
    })
  })

  it('have a name that no property has', async () => {
    const properties = { additionalProperties: string, additionalProperties2: string }
    const { ask, sdl } = await serve(
      { properties, additionalProperties: string },
      { additionalProperties: 'own', more: 'm' },
    )
    expect(sdl('Pet')).toContain('additionalProperties3: [StringEntry!]')
    expect(
      (await ask('{ pet { additionalProperties additionalProperties3 { key value } } }')).data.pet,
    ).toEqual({
      additionalProperties: 'own',
      additionalProperties3: [{ key: 'more', value: 'm' }],
    })
  })

  it('hold no property that is only written, and refuse one that has a field of its own', async () => {
    const properties = { id: string, secret: { ...string, writeOnly: true } }
    const { ask, backend } = await serve(
      { properties, additionalProperties: string },
      { secret: 's', a: 'b' },
    )
    expect((await ask('{ pet { additionalProperties { key value } } }')).data.pet).toEqual({
      additionalProperties: [{ key: 'a', value: 'b' }],
    })
    const { errors } = await ask(
      'mutation { setPet(input: { additionalProperties: [{ key: "id", value: "x" }] }) }',
    )
    expect(errors[0]).toMatchObject({
      message: expect.stringContaining('"id"'),
      extensions: { code: 'BAD_USER_INPUT' },
    })
    expect(backend.requests).toHaveLength(1)
  })

  it('of a value of another kind are an error at their place', async () => {
    const { ask } = await serve(typed, { id: 'a', x: { y: 1 } })
    const { data, errors } = await ask('{ pet { id additionalProperties { key value } } }')
    expect(data.pet).toEqual({ id: 'a', additionalProperties: [{ key: 'x', value: null }] })
    expect(errors[0]).toMatchObject({ path: ['pet', 'additionalProperties', 0, 'value'] })
  })
})
