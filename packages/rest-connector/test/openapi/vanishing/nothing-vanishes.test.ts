import { describe, expect, it } from 'vitest'
import { operationAdditions, schemaAdditions } from './additions.ts'
import { placesIn, type Node } from './places.ts'
import { isLostSilently, leftOutOf } from './silent-losses.ts'

const json = (schema: Node): Node => ({ content: { 'application/json': { schema } } })
const pet = { $ref: '#/components/schemas/Pet' }

const document: Node = {
  openapi: '3.1.0',
  info: { title: 't', version: '1' },
  servers: [{ url: 'https://shop.example.com' }],
  paths: {
    '/pets': {
      get: {
        operationId: 'listPets',
        responses: { 200: { description: 'ok', ...json({ type: 'array', items: pet }) } },
      },
      post: {
        operationId: 'makePet',
        requestBody: json(pet),
        responses: { 201: { description: 'ok', ...json(pet) } },
      },
    },
  },
  components: {
    schemas: {
      Pet: {
        type: 'object',
        properties: {
          id: { type: 'string', readOnly: true },
          owner: { type: 'object', properties: { name: { type: 'string' } } },
          tags: { type: 'array', items: { type: 'object', properties: { text: { type: 'string' } } } },
        },
      },
    },
  },
}

describe.each(['3.1.0', '3.0.3'])('whatever a document of OpenAPI %s says', (openapi) => {
  const given = { ...document, openapi }
  const { schemas, operations } = placesIn(given, () => false)

  it.each(schemaAdditions)(
    '$name is in the schema or among the findings, wherever it is said',
    async (addition) => {
      const lost: unknown[] = []
      const leftOut = await leftOutOf(given)
      for (const [index, { way, path }] of schemas.entries())
        if (await isLostSilently(given, leftOut, addition, ['schemas', index])) lost.push([way, path])
      expect(lost).toEqual([])
    },
  )

  it.each(operationAdditions)('$name is in the schema, the request or the findings', async (addition) => {
    const lost: unknown[] = []
    const leftOut = await leftOutOf(given)
    for (const [index, { path }] of operations.entries())
      if (await isLostSilently(given, leftOut, addition, ['operations', index])) lost.push(path)
    expect(lost).toEqual([])
  })
})
