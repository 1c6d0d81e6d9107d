import { printSchema } from 'graphql'
import { expect, it } from 'vitest'
import { createRestConnector, importOpenApi } from '../../../src/index.ts'

const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` })
const Pet = { type: 'object', properties: { parent: ref('Pet'), id: { type: 'string' } } }
const made = (parent: object): object => ({ allOf: [ref('Pet'), { type: 'object', properties: { parent } }] })

/** The fields of a type, where an operation gives a `Cat`. */
async function fieldsOf(schemas: object, type = 'Cat'): Promise<string | undefined> {
  const content = { 'application/json': { schema: ref('Cat') } }
  const document = {
    openapi: '3.0.3',
    info: { title: 't', version: '1' },
    components: { schemas },
    paths: { '/cat': { get: { operationId: 'cat', responses: { 200: { description: 'ok', content } } } } },
  }
  const { endpoints, types, findings } = await importOpenApi(document, { env: {} })
  expect(findings).toEqual([])
  const { schema, close } = createRestConnector('api', { baseUrl: 'http://127.0.0.1:1', endpoints, types })
  await close()
  const fields = new RegExp(`^type ${type}\\b[^{]*{([^}]*)}`, 'm').exec(printSchema(schema))?.[1]
  return fields?.replaceAll(/\s+/g, ' ').trim()
}

it.each<[string, object, string]>([
  ['its own kind', { Pet, Cat: made(ref('Cat')) }, 'parent: Cat id: String'],
  ['its own kind, in brackets', { Pet, Cat: made({ allOf: [ref('Cat')] }) }, 'parent: Cat id: String'],
  ['each other', { Pet, Cat: made(ref('Dog')), Dog: made(ref('Cat')) }, 'parent: Dog id: String'],
  [
    'its own kind or null',
    { Pet, Cat: made({ nullable: true, allOf: [ref('Cat')] }) },
    'parent: CatParent id: String',
  ],
])('a property that is narrowed to %s is read', async (_what, schemas, fields) => {
  expect(await fieldsOf(schemas)).toBe(fields)
})
