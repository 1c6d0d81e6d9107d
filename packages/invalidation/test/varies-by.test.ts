import { buildSchema, parse, type GraphQLObjectType, type GraphQLSchema } from 'graphql'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeVariesBy, describeOperationVariesBy, toVariesBy } from '../src/index.ts'

function schemaWith(declared: Readonly<Record<string, unknown>>): GraphQLSchema {
  const schema = buildSchema(`
    type Query { user: User node: Node free: Int }
    interface Node { id: ID cart: Int }
    type User implements Node { id: ID cart: Int }
    type Shop implements Node { id: ID cart: Int }
  `)
  for (const [coordinate, variesBy] of Object.entries(declared)) {
    const [typeName = '', name = ''] = coordinate.split('.')
    const field = (schema.getType(typeName) as GraphQLObjectType).getFields()[name]
    if (field) field.extensions = { ...field.extensions, variesBy }
  }
  return schema
}

describe('what a source writes', () => {
  it('is nothing where the answer is the same for everybody', () => {
    expect(toVariesBy([])).toBeUndefined()
    expect(toVariesBy(['traceparent', 'X-Request-Id', 'baggage'])).toBeUndefined()
  })

  it('is the headers in lower case, once each, in order; tracing headers aside', () => {
    expect(toVariesBy(['X-Tenant', 'authorization', 'x-tenant', 'traceparent'])).toEqual({
      headers: ['authorization', 'x-tenant'],
    })
    expect(toVariesBy([], 'because')).toEqual({ headers: [], unknown: 'because' })
  })
})

describe('who an answer is for', () => {
  const names = [
    'Query.user',
    'Query.node',
    'Query.free',
    'User.cart',
    'Shop.cart',
    'User.id',
    'Shop.id',
    'Node.cart',
  ]
  const variesBy = fc.dictionary(
    fc.constantFrom(...names),
    fc.record({ headers: fc.subarray(['authorization', 'cookie', 'X-Tenant', 'x-region']) }),
  )

  it('names the headers of every field of the schema', () => {
    fc.assert(
      fc.property(variesBy, (given) => {
        const { headers } = describeVariesBy(schemaWith(given))
        const expected = Object.entries(given)
          .filter(([name]) => !name.startsWith('Node'))
          .flatMap(([, variesBy]) => variesBy.headers.map((name) => name.toLowerCase()))
        expect(headers).toEqual([...new Set(expected)].sort())
      }),
    )
  })

  it('of an operation: those of the fields that it can execute', () => {
    fc.assert(
      fc.property(variesBy, fc.boolean(), (given, isFragment) => {
        const document = parse(
          isFragment ? '{ node { ...C } } fragment C on Node { cart }' : '{ node { cart } }',
        )
        const { headers } = describeOperationVariesBy(schemaWith(given), document)
        for (const name of ['Query.node', 'User.cart', 'Shop.cart'])
          for (const header of given[name]?.headers ?? []) expect(headers).toContain(header.toLowerCase())
        const free = describeOperationVariesBy(schemaWith(given), parse('{ free }'))
        expect(free.headers).toEqual(
          (given['Query.free']?.headers ?? []).map((name) => name.toLowerCase()).sort(),
        )
      }),
    )
  })

  it('says why it cannot be known, each reason once', () => {
    const unknown = { headers: [], unknown: 'an interceptor' }
    const schema = schemaWith({
      'Query.user': unknown,
      'User.cart': unknown,
      'Query.free': { headers: [], unknown: 'b' },
    })
    expect(describeVariesBy(schema).unknown).toBe('an interceptor; b')
    expect(describeOperationVariesBy(schema, parse('{ user { id } }')).unknown).toBe('an interceptor')
    expect(describeOperationVariesBy(schema, parse('{ node { id } }')).unknown).toBeUndefined()
  })

  it.each([null, 'authorization', {}, { headers: 'x' }, { headers: [1] }, { headers: [], unknown: 1 }])(
    'takes what is no description for one that cannot be known: %j',
    (variesBy) => {
      expect(describeVariesBy(schemaWith({ 'Query.free': variesBy })).unknown).toContain('"free"')
    },
  )

  it('of an operation that the document does not have: that of the schema', () => {
    const schema = schemaWith({ 'Query.free': { headers: ['a'] } })
    expect(describeOperationVariesBy(schema, parse('query A { user { id } }'), 'B').headers).toEqual(['a'])
  })
})
