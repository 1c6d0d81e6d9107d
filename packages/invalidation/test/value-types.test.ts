import { buildSchema, isObjectType, parse } from 'graphql'
import { describe, expect, it } from 'vitest'
import { createDependencies } from '../src/index.ts'

const SDL = /* GraphQL */ `
  type Query {
    product: Product
    account: Account
    items: ItemPage
  }
  type Mutation {
    product: Product
    payload: Payload
    pageOf: Account
    price: Money
  }
  type Payload {
    product: Product
    price: Money
  }
  type Money {
    amount: Int
    currency: String
  }
  type Label {
    text: String
    tax: Money
  }
  type Product {
    id: ID!
    price: Money
    label: Label
  }
  type Account {
    id: ID!
    balance: Money
    items: ItemPage
  }
  type ItemPage {
    items: [Item!]!
    pageInfo: PageInfo
  }
  type PageInfo {
    hasNextPage: Boolean
  }
  type Item {
    id: ID!
  }
`

type Extensions = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>

/** Adds definitions and extensions to the schema, and computes its dependencies. */
function dependenciesOf(more = '', extensions: Extensions = {}) {
  const schema = buildSchema(`${SDL} ${more}`)
  for (const [coordinate, value] of Object.entries(extensions)) {
    const [typeName = '', name = ''] = coordinate.split('.')
    const type = schema.getType(typeName)
    const field = isObjectType(type) ? type.getFields()[name] : undefined
    if (field) field.extensions = value
  }
  return createDependencies(schema)
}

function changed(text: string, more?: string, extensions?: Extensions): readonly string[] | 'everything' {
  const dependence = dependenciesOf(more, extensions).ofMutation(parse(text))
  return dependence.everything ? 'everything' : [...dependence.types].sort()
}

const PRICE = 'mutation { product { price { amount } } }'

describe('a mutation that selects an object without an id', () => {
  it.each<[string, string, string, readonly string[] | 'everything']>([
    ['changes the entity that contains it', PRICE, '', ['Product']],
    ['changes the entity at any depth', 'mutation { product { label { tax { amount } } } }', '', ['Product']],
    [
      'changes the entity in a payload and the values of the payload',
      PRICE.replace('product', 'payload { product').replace(/$/, ' }'),
      '',
      ['Money', 'Payload', 'Product'],
    ],
    ['changes everything if it returns the object itself', 'mutation { price { amount } }', '', 'everything'],
    [
      'changes the entities of a page, but no other pages',
      'mutation { pageOf { items { pageInfo { hasNextPage } } } }',
      '',
      ['Account', 'Item'],
    ],
    [
      'changes the type if a query can return it next to an entity',
      PRICE,
      'extend type Query { sales: Sales } type Sales { revenue: Money best: Item }',
      ['Money', 'Product'],
    ],
    [
      'changes the type if a query can return it below another value',
      PRICE,
      'extend type Query { sales: Sales } type Sales { of: Sums best: Item } type Sums { revenue: Money }',
      ['Money', 'Product'],
    ],
    [
      'changes the type if it is a member of a union that a query can return',
      PRICE,
      'extend type Query { found: Found } union Found = Money | Item',
      ['Money', 'Product'],
    ],
    [
      'changes the type if an interface that a query can return leads to it',
      PRICE,
      'extend type Query { named: Named } interface Named { name: String } type Shown implements Named { name: String price: Money } type Known implements Named { id: ID name: String }',
      ['Money', 'Product'],
    ],
    [
      'changes only the entity if the query depends on everything',
      PRICE,
      'extend type Query { total: Money }',
      ['Product'],
    ],
    [
      'changes the type if an entity that is sent with the changed entity has it',
      PRICE,
      'extend type Query { cart: Cart } type Cart { id: ID! total: Money lines: [Line] } type Line { product: Product }',
      ['Money', 'Product'],
    ],
    [
      'changes the type if the entity is sent below another entity',
      PRICE,
      'extend type Query { cart: Cart } type Cart { id: ID! total: Money lines: [Line] } type Line { id: ID! product: Product }',
      ['Money', 'Product'],
    ],
  ])('%s', (_title, text, more, expected) => {
    expect(changed(text, more)).toEqual(expected)
  })

  const cart =
    'extend type Query { cart: Cart } type Cart { id: ID! total: Money line: Line } type Line { product: Product }'
  const sales = 'extend type Query { sales: Sales } type Sales { revenue: Money best: Item }'
  it.each<[string, string, Extensions, readonly string[]]>([
    [
      'a declaration on the value of an entity',
      cart,
      { 'Cart.total': { dependsOn: ['Product'] } },
      ['Product'],
    ],
    ['a join between the entities', cart, { 'Line.product': { requires: ['productId'] } }, ['Product']],
    [
      'a declaration on the value of a wrapper',
      sales,
      { 'Sales.revenue': { dependsOn: ['Product'] } },
      ['Product'],
    ],
    ['a declaration on the root field', sales, { 'Query.sales': { dependsOn: ['Product'] } }, ['Product']],
    [
      'a declaration that does not name the field',
      sales,
      { 'Sales.best': { dependsOn: [] } },
      ['Money', 'Product'],
    ],
    [
      'a join that gives the selected value',
      '',
      { 'Product.price': { requires: ['id'] } },
      ['Money', 'Product'],
    ],
    [
      'a join that gives the value with an entity',
      'extend type Account { sales: Sales } type Sales { revenue: Money best: Item }',
      { 'Account.sales': { requires: ['id'] } },
      ['Money', 'Product'],
    ],
    [
      'a declaration of such a join',
      'extend type Account { sales: Sales } type Sales { revenue: Money best: Item }',
      { 'Account.sales': { requires: ['id'], dependsOn: [] } },
      ['Product'],
    ],
  ])('respects %s', (_title, more, extensions, expected) => {
    expect(changed(PRICE, more, extensions)).toEqual(expected)
  })
})

it('responses still depend on the types of their values, so that events with these types evict them', () => {
  const dependence = dependenciesOf().ofOperation(parse('{ product { price { amount } } }'))
  expect(dependence).toEqual({ everything: false, types: new Set(['Product', 'Money']) })
})

describe('computedFields', () => {
  const listed = (more: string, extensions?: Extensions): readonly (readonly [string, readonly string[]])[] =>
    [...dependenciesOf(more, extensions).computedFields()].map(([name, from]) => [name, [...from].sort()])

  it('names no field of a schema whose values stand in entities that are not sent together', () => {
    expect(listed('')).toEqual([])
  })

  it('names values next to entities, and values of entities that are sent with other entities', () => {
    const more =
      'extend type Query { sales: Sales cart: Cart } type Sales { revenue: Money best: Item } type Cart { id: ID! total: Money line: Line } type Line { product: Product }'
    expect(listed(more)).toEqual([
      ['Sales.revenue', ['Account', 'Cart', 'Product']],
      ['Cart.total', ['Product']],
    ])
    expect(
      listed(more, { 'Sales.revenue': { dependsOn: ['Cart'] }, 'Cart.total': { dependsOn: [] } }),
    ).toEqual([])
  })
})
