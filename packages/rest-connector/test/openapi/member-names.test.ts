import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { validateSchema } from 'graphql'
import { afterAll, describe, expect, it } from 'vitest'
import { createRestConnector, importOpenApi } from '../../src/index.ts'

const cleanup = createDisposables()
afterAll(() => cleanup.dispose())
const backend = cleanup.use(await startRestBackend(() => ({ json: {} })))

function documentOf(input: object, output: object, schemas: object = {}): object {
  const content = (schema: object) => ({ 'application/json': { schema } })
  return {
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    paths: {
      '/x': {
        post: {
          operationId: 'change',
          requestBody: { required: true, content: content(input) },
          responses: { 200: { description: 'ok', content: content(output) } },
        },
      },
    },
    components: { schemas },
  }
}

const objectOf = (properties: object): object => ({ type: 'object', properties })

/** What documents have as names, and what nobody has. */
const keys = fc.uniqueArray(
  fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 6 }),
    fc.constantFrom(
      '名前',
      '법정동',
      'größe',
      'naïve',
      '+1',
      '-1',
      '$',
      '_',
      '',
      '@id',
      'id',
      '24h',
      '*',
      '名_前',
    ),
  ),
  { minLength: 1, maxLength: 12 },
)

describe('names of members', () => {
  it('none is lost, and each is sent as it is written', async () => {
    await fc.assert(
      fc.asyncProperty(keys, async (names) => {
        const schema = objectOf(Object.fromEntries(names.map((name) => [name, { type: 'string' }])))
        const { endpoints, types } = await importOpenApi(documentOf(schema, schema), { asQuery: ['change'] })
        const connector = createRestConnector('x', { baseUrl: backend.url, endpoints, types })
        expect(validateSchema(connector.schema)).toEqual([])
        const { fields } = types['ChangeInput'] as { fields: Record<string, { key?: string }> }
        const input = Object.fromEntries(
          Object.entries(fields).map(([field, { key }]) => [field, key ?? field]),
        )
        await connector.execute('change', { input })
        await connector.close()
        // Each value is its member's own name.
        const sent = JSON.parse(String(backend.requests.at(-1)?.body)) as object
        expect(Object.entries(sent).toSorted()).toEqual(names.map((name) => [name, name]).toSorted())
      }),
    )
  })

  it.each([
    ['+1', 'plus1'],
    ['-1', 'minus1'],
    ['$', 'dollar', "$['$']"],
    ['größe', 'groUdfE'],
    ['naïve', 'naive'],
    ['名前', 'u540dU524d'],
    ['24h', '_24h'],
    ['@id', 'id'],
    ['', '_'],
  ])('%s is %s', async (name, field, key = name) => {
    const { types } = await importOpenApi(documentOf({}, objectOf({ [name]: { type: 'string' } })))
    expect(types['Change']).toMatchObject({ fields: { [field]: { key } } })
  })
})

describe('names of types without one', () => {
  it('a property `input` does not take the name of the type around it', async () => {
    const inner = objectOf({ a: { type: 'string' } })
    const embed = objectOf({ input: inner, model: { type: 'string' } })
    const { types } = await importOpenApi(
      documentOf({ $ref: '#/components/schemas/Embed' }, {}, { Embed: embed }),
    )
    expect(types).toMatchObject({
      EmbedInput: { fields: { input: { type: 'EmbedInputInput' } } },
      EmbedInputInput: { fields: { a: {} } },
    })
  })

  it.each([
    [['a', 'b'], ['a', 'b'], 1],
    [['a', 'b'], ['b', 'c'], 2],
  ])('enums %j and %j at places of one name', async (sent, given, count) => {
    const { types } = await importOpenApi(
      documentOf(objectOf({ state: { enum: sent } }), objectOf({ state: { enum: given } })),
    )
    const enums = Object.keys(types).filter((name) => types[name]?.kind === 'enum')
    expect(enums).toHaveLength(count)
    expect(enums).toContain('ChangeState')
  })
})
