import { expect, it } from 'vitest'
import { importOpenApi } from '../../../src/index.ts'

const body = (name: string): object => ({ in: 'body', name, schema: { type: 'string' } })
const member = (name: string): object => ({ in: 'formData', name, type: 'string' })

it.each([
  [[body('a'), body('b')], 'the parameter "b" is in "body", which is not supported'],
  [[body('a'), member('b')], 'the parameter "b" is in "formData", which is not supported'],
  [[member('b'), body('a')], 'the parameter "b" is in "formData", which is not supported'],
])('a second body of an operation is told: %j', async (parameters, told) => {
  const post = { operationId: 'x', parameters, responses: { 204: { description: 'done' } } }
  const document = { swagger: '2.0', host: 'api.example.com', schemes: ['https'], paths: { '/x': { post } } }
  const { findings } = await importOpenApi(document, { env: {} })
  expect(findings[0]?.message).toContain(told)
})

it("a body of the operation stands for the path's", async () => {
  const item = { parameters: [body('a')], post: { operationId: 'x', parameters: [body('b')], responses: {} } }
  const document = { swagger: '2.0', host: 'api.example.com', schemes: ['https'], paths: { '/x': item } }
  const { endpoints } = await importOpenApi(document, { env: {} })
  expect(endpoints.map(({ name }) => name)).toEqual(['x'])
})
