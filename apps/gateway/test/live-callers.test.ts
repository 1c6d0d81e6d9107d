import { buildSchema, type GraphQLObjectType } from 'graphql'
import { expect, it } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import { unknownLiveCallers } from '../src/composition/notes.ts'
import { startGateway } from './support/gateway.ts'

const REASON = 'rest source "shop": its interceptors may read who asks'
const variesBy = { headers: [], unknown: REASON }

function schemaOf(): ReturnType<typeof buildSchema> {
  const schema = buildSchema(`
    interface Node { id: ID! }
    type Product implements Node { id: ID! price: Int next: Product }
    type Query { direct: Int below: [Product!] node: Node free: Int off: Int }
  `)
  const query = schema.getQueryType()!.getFields()
  for (const field of Object.values(query)) field.extensions = { liveQuery: { enabled: true } }
  query['direct']!.extensions = { liveQuery: { enabled: true }, variesBy }
  query['off']!.extensions = { variesBy }
  ;(schema.getType('Product') as GraphQLObjectType).getFields()['price']!.extensions = { variesBy }
  return schema
}

it.each<[string, GatewayConfig, string[]]>([
  ['fields that may be live and meet it, directly or below', {}, ['Query.direct, Query.below, Query.node']],
  [
    'also those that only the config lets be live',
    { liveQuery: { fields: { off: {} } } },
    ['Query.direct, Query.below, Query.node, Query.off'],
  ],
  [
    'not those that the config turns off',
    { liveQuery: { fields: { direct: { enabled: false } } } },
    ['Query.below, Query.node'],
  ],
  ['none where contextKey says who asks', { liveQuery: { contextKey: () => 'all' } }, []],
  ['none without live queries', { liveQuery: false }, []],
])('%s', (_, config, expected) => {
  expect(unknownLiveCallers(schemaOf(), config)).toEqual(
    expected.map((names) => `${names} cannot be live: ${REASON}; set liveQuery.contextKey`),
  )
})

it('is a note of the gateway, which `check` prints', async () => {
  const { gateway } = await startGateway({
    typeDefs: 'type Query { total: Int }',
    resolvers: {
      Query: { total: { resolve: () => 1, extensions: { variesBy } } },
    } as GatewayConfig['resolvers'],
    liveQuery: { fields: { total: {} } },
  })
  expect(gateway.notes).toEqual([
    { source: 'liveQuery', note: `Query.total cannot be live: ${REASON}; set liveQuery.contextKey` },
  ])
})
