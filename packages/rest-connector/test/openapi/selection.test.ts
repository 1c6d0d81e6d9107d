import { describe, expect, it } from 'vitest'
import { importOpenApi, type OpenApiOptions } from '../../src/index.ts'

const responses = { 200: { description: 'ok' } }
/** Of its operations one cannot be served, and says so. */
const document = {
  openapi: '3.0.3',
  info: { title: 't', version: '1' },
  paths: {
    '/pets': {
      get: { operationId: 'listPets', tags: ['pets'], responses },
      post: { operationId: 'addPet', tags: ['pets'], responses },
    },
    '/pets/{id}': {
      get: {
        tags: ['pets', 'one'],
        parameters: [{ name: 'id', in: 'path', required: true, schema: {} }],
        responses,
      },
    },
    '/internal/odd': {
      get: {
        operationId: 'odd',
        requestBody: { required: true, content: { 'application/json': {} } },
        responses,
      },
    },
  },
}

describe('a config leaves operations out', () => {
  it.each<[string, OpenApiOptions, readonly string[]]>([
    ['none', {}, ['listPets', 'addPet', 'getPetsById']],
    ['by id', { exclude: ['addPet', 'odd'] }, ['listPets', 'getPetsById']],
    ['by method and path', { exclude: ['GET /pets', 'GET /internal/odd'] }, ['addPet', 'getPetsById']],
    ['by path', { exclude: ['/pets', '/internal/odd'] }, ['getPetsById']],
    ['by a pattern', { exclude: ['POST *', '/internal/*'] }, ['listPets', 'getPetsById']],
    [
      'by a test',
      { exclude: ({ path }) => path.startsWith('/internal') },
      ['listPets', 'addPet', 'getPetsById'],
    ],
    ['but for some', { include: ['/pets*'], exclude: ['listPets'] }, ['addPet', 'getPetsById']],
    ['but for some tags', { tags: ['one'] }, ['getPetsById']],
  ])('%s', async (_, options, expected) => {
    const { endpoints, findings } = await importOpenApi(document, { env: {}, ...options })
    expect(endpoints.map(({ name }) => name)).toEqual(expected)
    // What is left out by hand is no finding, and all that are one are told at once.
    const isOddThere = Object.keys(options).length === 0
    expect(findings.map(({ place }) => place)).toEqual(isOddThere ? ['#/paths/~1internal~1odd/get'] : [])
  })
})
