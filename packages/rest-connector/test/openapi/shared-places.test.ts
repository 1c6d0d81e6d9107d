import { describe, expect, it } from 'vitest'
import { importOpenApi } from '../../src/index.ts'

const status = { type: 'string', enum: ['a', 'b'] }
const json = (schema: object): object => ({ content: { 'application/json': { schema } } })
const page = {
  type: 'object',
  properties: { inner: { type: 'object', properties: { a: { type: 'string' } } } },
}

const components = {
  parameters: { 'the-status': { name: 'status', in: 'query', schema: status } },
  requestBodies: { NewPet: json(page) },
  responses: { PetPage: { description: 'ok', ...json(page) } },
}

/** Arguments and answers of the operations of a path, and the names of all types. */
async function read(item: object) {
  const document = {
    openapi: '3.0.3',
    info: { title: 't', version: '1' },
    components,
    paths: { '/pets/{id}': item },
  }
  const { endpoints, types } = await importOpenApi(document, { env: {}, baseUrl: 'http://a.example' })
  const of = ({ args = {}, returnType }: (typeof endpoints)[number]) => ({ args, returnType })
  return {
    operations: Object.fromEntries(endpoints.map((one) => [one.name, of(one)])),
    types: Object.keys(types),
  }
}

const responses = { 200: { $ref: '#/components/responses/PetPage' } }

describe('types of what operations share are called by where it stands', () => {
  it.each<[string, object, object, string[]]>([
    [
      'a parameter of the components',
      {},
      { parameters: [{ $ref: '#/components/parameters/the-status' }] },
      ['TheStatus'],
    ],
    [
      'a parameter of the path',
      { parameters: [{ name: 'status', in: 'query', schema: status }] },
      {},
      ['PetsByIdStatus'],
    ],
    [
      'a body',
      {},
      { requestBody: { $ref: '#/components/requestBodies/NewPet' } },
      ['NewPetInput', 'NewPetInnerInput'],
    ],
    ['an answer', {}, { responses }, ['PetPage', 'PetPageInner']],
  ])('%s', async (_what, ofPath, own, names) => {
    const operation = (operationId: string): object => ({ operationId, responses: { 204: {} }, ...own })
    const alone = await read({ ...ofPath, put: operation('second') })
    const both = await read({ ...ofPath, post: operation('first'), put: operation('second') })
    expect(alone.types).toEqual(expect.arrayContaining(names))
    expect(both.types).toEqual(alone.types)
    expect(both.operations['second']).toEqual(alone.operations['second'])
  })

  it('and those of an operation by its name', async () => {
    const parameters = [{ name: 'status', in: 'query', schema: status }]
    const { types } = await read({
      post: { operationId: 'first', parameters, requestBody: json(page), responses: { 200: json(page) } },
    })
    expect(types).toEqual(['First', 'FirstInner', 'FirstInnerInput', 'FirstInput', 'FirstStatus'])
  })
})
