import { expect, it } from 'vitest'
import type { Gateway } from '../src/gateway.ts'
import { fetchFrom, openGateway } from './support/gateway.ts'

const QUERY = '{ product(sku: "a-1") { id sku } }'

/** The `x-cache` header of the query after an event for the product with this id. */
async function cacheAfter(gateway: Gateway, entityId: string): Promise<string | null> {
  await (await fetchFrom(gateway, QUERY)).text()
  await gateway.bus.publish([{ entityType: 'Product', operation: 'update', entityId }])
  const response = await fetchFrom(gateway, QUERY)
  await response.text()
  return response.headers.get('x-cache')
}

it('idFields identifies entities for the response cache and for live queries', async () => {
  let reads = 0
  const gateway = await openGateway({
    typeDefs: 'type Product { id: ID! sku: ID! } type Query { product(sku: ID!): Product }',
    resolvers: {
      Query: {
        product: () => {
          reads += 1
          return { id: '1', sku: 'a-1' }
        },
      },
    },
    dependencies: { 'Query.product': { variesBy: [] } },
    idFields: ['sku', 'id'],
    responseCache: { strategy: 'entities' },
    liveQuery: { matchEntityId: true, defaults: { enabled: true, throttleMs: 0 } },
  })
  expect(await cacheAfter(gateway, '1')).toBe('HIT')
  expect(await cacheAfter(gateway, 'a-1')).toBe('MISS')

  const stream = await gateway.fetch(
    new Request('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: `query @live ${QUERY}` }),
    }),
  )
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const readTo = async (revision: number): Promise<void> => {
    while (!text.includes(`"revision":${revision}`)) text += (await reader?.read())?.value ?? ''
  }
  await readTo(1)
  reads = 0
  await gateway.bus.publish([{ entityType: 'Product', operation: 'update', entityId: '1' }])
  await gateway.bus.publish([{ entityType: 'Product', operation: 'update', entityId: 'a-1' }])
  await readTo(2)
  expect(reads).toBe(1)
  await reader?.cancel()
})
