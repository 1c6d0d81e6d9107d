import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { importOpenApi } from '../../../src/index.ts'

const string = { type: 'string' }
const Pet = { type: 'object', properties: { name: string } }

/** A document whose parts can be pointed to where Swagger 2 has them; those of `/a` are the targets. */
const documentOf = (schema: object, more: object = {}): object =>
  // Each part is an object of its own.
  JSON.parse(
    JSON.stringify({
      swagger: '2.0',
      host: 'api.example',
      definitions: { Pet, 'a/b': Pet },
      parameters: { b: { name: 'b', in: 'body', schema: Pet }, q: { name: 'q', in: 'query', ...string } },
      responses: { X: { description: 'ok', schema: Pet } },
      paths: {
        '/a': {
          get: {
            operationId: 'a',
            parameters: [{ name: 'size', in: 'query', type: 'integer', format: 'int32' }],
            responses: { 200: { description: 'ok', schema: Pet } },
          },
          put: {
            operationId: 'putA',
            // In OpenAPI 3 the body is no parameter: the others stand at other places.
            parameters: [
              { name: 'b', in: 'body', schema: Pet },
              { name: 'q', in: 'query', ...string },
              { name: 'r', in: 'query', type: 'array', items: Pet },
            ],
            responses: { 204: { description: 'ok' } },
          },
        },
        '/x': { get: { operationId: 'x', responses: { 200: { description: 'ok', schema } }, ...more } },
      },
    }),
  )

const pointers = [
  '#/paths/~1a/get/responses/200/schema',
  '#/paths/~1a/put/parameters/0/schema',
  '#/paths/~1a/put/parameters/2/items',
  '#/responses/X/schema',
  '#/parameters/b/schema',
  '#/definitions/Pet',
  '#/definitions/a~1b',
]

it.each(pointers)('the schema at %s is found', async ($ref) => {
  const { endpoints, types, findings } = await importOpenApi(documentOf({ $ref }), { env: {} })
  expect(findings).toEqual([])
  const { returnType } = endpoints.find(({ name }) => name === 'x') as { returnType?: string }
  expect(types[returnType as string]).toEqual({ kind: 'object', fields: { name: { type: 'String' } } })
})

it.each(pointers)('what lies below %s is found', async (pointer) => {
  const $ref = `${pointer}/properties/name`
  const { endpoints, findings } = await importOpenApi(documentOf({ $ref }), { env: {} })
  expect([findings, endpoints.find(({ name }) => name === 'x')?.returnType]).toEqual([[], 'String'])
})

it.each(pointers)('the schema at %s of a file is found from another', async ($ref) => {
  const folder = await mkdtemp(join(tmpdir(), 'swagger-2-pointers-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'other.json'), JSON.stringify({ Pet: { $ref: `api.json${$ref}` } }))
  await writeFile(join(folder, 'api.json'), JSON.stringify(documentOf({ $ref: 'other.json#/Pet' })))
  const { endpoints, types, findings } = await importOpenApi(join(folder, 'api.json'), { env: {} })
  expect(findings).toEqual([])
  expect(types[endpoints.find(({ name }) => name === 'x')?.returnType as string]).toMatchObject({
    kind: 'object',
  })
})

it.each([
  ['#/paths/~1a/get/parameters/0', 'size', 'Int'],
  ['#/parameters/q', 'q', 'String'],
])('the parameter at %s is found', async ($ref, name, type) => {
  const document = documentOf(string, { parameters: [{ $ref }] })
  const { endpoints, findings } = await importOpenApi(document, { env: {} })
  expect(findings).toEqual([])
  expect(endpoints.find((one) => one.name === 'x')?.args).toEqual({ [name]: { type } })
})

it('the answer at a path is found', async () => {
  const responses = { 200: { $ref: '#/paths/~1a/get/responses/200' } }
  const { endpoints, findings } = await importOpenApi(documentOf(string, { responses }), { env: {} })
  expect(findings).toEqual([])
  expect(endpoints.find((one) => one.name === 'x')?.returnType).toBeDefined()
})

it('a schema of a definition keeps its name whichever way it is pointed to', async () => {
  const responses = { 200: { description: 'ok', schema: { $ref: '#/definitions/Pet' } } }
  const { types } = await importOpenApi(documentOf({ $ref: '#/definitions/Pet' }, { responses }), { env: {} })
  expect(Object.keys(types)).toContain('Pet')
})

it('what is nowhere, neither in the document nor in its form as OpenAPI 3, is told', async () => {
  for (const $ref of ['#/paths/~1a/get/responses/404/schema', '#/responses/Y/schema', '#/definitions/No']) {
    const { findings } = await importOpenApi(documentOf({ $ref }), { env: {} })
    expect(findings).toMatchObject([{ message: expect.stringContaining('cannot be resolved') }])
  }
})
