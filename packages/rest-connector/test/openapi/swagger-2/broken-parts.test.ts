import { validateSchema } from 'graphql'
import { expect, it } from 'vitest'
import { createRestConnector, importOpenApi } from '../../../src/index.ts'

const document = {
  swagger: '2.0',
  info: { title: 't', version: '1' },
  host: 'api.example',
  securityDefinitions: { key: { type: 'apiKey', in: 'header', name: 'x-key' } },
  parameters: { size: { name: 'size', in: 'query', type: 'integer' } },
  responses: { gone: { description: 'gone', schema: { $ref: '#/definitions/Pet' } } },
  definitions: { Pet: { type: 'object', properties: { id: { type: 'string' } } } },
  paths: {
    '/odd': {
      get: {
        operationId: 'odd',
        security: [{ key: [] }],
        parameters: [
          { $ref: '#/parameters/size' },
          { name: 'q', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'multi' },
        ],
        produces: ['application/json'],
        responses: {
          200: { description: 'ok', schema: { $ref: '#/definitions/Pet' } },
          410: { $ref: '#/responses/gone' },
        },
      },
      post: {
        operationId: 'addOdd',
        consumes: ['application/json'],
        parameters: [{ name: 'body', in: 'body', schema: { $ref: '#/definitions/Pet' } }],
        responses: { 204: { description: 'done' } },
      },
    },
    '/fine': {
      get: { operationId: 'fine', responses: { 200: { description: 'ok', schema: { type: 'string' } } } },
    },
  },
}

type Spot = readonly [holder: Record<string, unknown>, key: string]

function spotsIn(value: unknown): Spot[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => [
    [value as Record<string, unknown>, key] as const,
    ...spotsIn(member),
  ])
}

const WRONG: readonly unknown[] = [
  null,
  1,
  'x',
  [],
  {},
  [null],
  { a: null },
  { $ref: '#/no' },
  ['x'],
  { allOf: [null] },
]

/** A copy of the document, and every place in it where something can be wrong. */
function copy() {
  const given = structuredClone(document)
  const { definitions, parameters, responses, securityDefinitions } = given
  const { '/odd': odd } = given.paths
  const spots = [definitions, parameters, responses, securityDefinitions, odd].flatMap(spotsIn)
  return { given, odd, spots }
}

it('whatever is wrong with a part of a Swagger 2 document, the other operations are there', async () => {
  const places = copy().spots.keys()
  for (const [place, value] of [...places].flatMap((at) => WRONG.map((value) => [at, value] as const))) {
    const { given, odd, spots } = copy()
    const [holder, key] = spots[place] as Spot
    holder[key] = structuredClone(value)
    const { endpoints, types, findings } = await importOpenApi(given, { env: {} })
    const where = `${key} of ${JSON.stringify(holder)}`
    const served = endpoints.filter((one) => one.path.startsWith('/odd')).length
    const told = new Set(findings.map((one) => one.place).filter((at) => at.startsWith('#/paths/~1odd'))).size
    const left = Object.values(odd).filter(
      (one) => typeof one === 'object' && Object.keys(one ?? {}).length > 0,
    ).length
    const { schema, close } = createRestConnector('api', {
      baseUrl: 'http://127.0.0.1:1',
      endpoints,
      types,
    })
    expect({
      where,
      isFineThere: endpoints.some(({ name }) => name === 'fine'),
      isServedOrTold: served + told >= Math.min(left, 2),
      faults: validateSchema(schema),
    }).toEqual({ where, isFineThere: true, isServedOrTold: true, faults: [] })
    await close()
  }
})
