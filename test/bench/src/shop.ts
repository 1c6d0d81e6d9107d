// A shop with 20 types for `bench:hit-rate --schema shop`: values without an id (money, addresses) in many entities, and
// fields that the source computes from other entities.
import type { GraphQLSchema } from 'graphql'
import { createSchema } from 'graphql-yoga'

const typeDefs = /* GraphQL */ `
  type Money {
    amount: Int!
    currency: String!
  }
  type Country {
    code: String!
  }
  type Address {
    city: String!
    country: Country!
  }
  type Dimensions {
    width: Int!
    weight: Int!
  }
  type PageInfo {
    hasNextPage: Boolean!
  }
  type Brand {
    id: ID!
    name: String!
  }
  type Category {
    id: ID!
    name: String!
    productCount: Int!
  }
  type Product {
    id: ID!
    name: String!
    price: Money!
    dimensions: Dimensions!
    brand: Brand
    category: Category
    reviews: [Review!]
  }
  type ProductPage {
    items: [Product!]!
    pageInfo: PageInfo!
    totalCount: Int!
  }
  type Review {
    id: ID!
    rating: Int!
    author: Customer
  }
  type Customer {
    id: ID!
    name: String!
    address: Address!
    credit: Money!
    orders: [Order!]
  }
  type Warehouse {
    id: ID!
    address: Address!
    rent: Money!
  }
  type StockLevel {
    inStock: Int!
  }
  type CartLine {
    quantity: Int!
    product: Product!
  }
  type Cart {
    id: ID!
    total: Money!
    lines: [CartLine!]!
  }
  type OrderLine {
    title: String!
    price: Money!
  }
  type Order {
    id: ID!
    status: String!
    total: Money!
    lines: [OrderLine!]!
    customer: Customer
  }
  type Coupon {
    id: ID!
    value: Money!
  }
  type Dashboard {
    revenue: Money!
    orderCount: Int!
    latest: [Product!]!
  }
  type Query {
    product(id: ID!): Product
    products(limit: Int): ProductPage!
    search(text: String!): [Product!]!
    brand(id: ID!): Brand
    brands: [Brand!]!
    category(id: ID!): Category
    categories: [Category!]!
    customer(id: ID!): Customer
    customers(limit: Int): [Customer!]!
    review(id: ID!): Review
    warehouse(id: ID!): Warehouse
    warehouses: [Warehouse!]!
    cart(id: ID!): Cart
    order(id: ID!): Order
    orders(limit: Int): [Order!]!
    coupon(id: ID!): Coupon
    coupons: [Coupon!]!
    dashboard: Dashboard!
    stock(product: ID!): StockLevel
    shipping(city: String!): Money
    openOrders: Int!
    version: String!
  }
  type OrderPayload {
    order: Order
  }
  type Mutation {
    setPrice(id: ID!, amount: Int!): Product
    renameProduct(id: ID!, name: String!): Product
    renameBrand(id: ID!, name: String!): Brand
    moveProduct(id: ID!, category: ID!): Product
    addProduct(name: String!, amount: Int!): Product
    addReview(product: ID!, customer: ID!, rating: Int!): Review
    rate(id: ID!, rating: Int!): Review
    moveCustomer(id: ID!, city: String!): Customer
    giveCredit(id: ID!, amount: Int!): Customer
    setRent(id: ID!, amount: Int!): Warehouse
    addToCart(id: ID!, product: ID!): Cart
    emptyCart(id: ID!): Cart
    placeOrder(customer: ID!, product: ID!): OrderPayload
    shipOrder(id: ID!): OrderPayload
    setCoupon(id: ID!, amount: Int!): Coupon
  }
`

type Args = Readonly<Record<string, never>>
type Statements = Readonly<Record<string, readonly string[]>>

/** The lines that `vinyasa check` lists for this schema, with the types that the code below reads. */
export const SHOP_STATEMENTS: Statements = {
  'Query.stock': [],
  'Query.shipping': [],
  'Query.openOrders': ['Order'],
  'Query.version': [],
  'Dashboard.revenue': ['Order'],
  'Dashboard.orderCount': ['Order'],
  'Cart.total': ['Product'],
  'Category.productCount': ['Product'],
}

const numbered = <T>(count: number, create: (n: number) => T): Map<string, T & { id: string }> =>
  new Map(
    Array.from({ length: count }, (_, n) => [`${n + 1}`, { ...create(n + 1), id: `${n + 1}` }] as const),
  )
const money = (amount: number) => ({ amount, currency: 'EUR' })
const address = (city: string) => ({ city, country: { code: city.slice(0, 1) } })

export function createShop(statements: Statements): GraphQLSchema {
  const brands = numbered(10, (n) => ({ name: `brand ${n}` }))
  const categories = numbered(8, (n) => ({ name: `category ${n}` }))
  const products = numbered(60, (n) => ({
    name: `thing ${n % 7}`,
    amount: n * 10,
    brand: `${1 + (n % 10)}`,
    category: `${1 + (n % 8)}`,
  }))
  const customers = numbered(60, (n) => ({ name: `customer ${n}`, city: `city ${n % 9}`, credit: n }))
  const reviews = numbered(150, (n) => ({
    product: `${1 + (n % 60)}`,
    customer: `${1 + (n % 60)}`,
    rating: n % 6,
  }))
  const warehouses = numbered(5, (n) => ({ city: `city ${n}`, rent: n * 100 }))
  const carts = numbered(40, (n) => ({ products: [`${1 + (n % 60)}`, `${1 + ((n * 7) % 60)}`] }))
  const orders = numbered(50, (n) => ({ customer: `${1 + (n % 60)}`, total: n * 10, status: 'OPEN' }))
  const coupons = numbered(10, (n) => ({ value: n }))
  type Of<T> = T extends Map<string, infer One> ? One : never

  const product = (one: Of<typeof products> | undefined) =>
    one && { ...one, price: money(one.amount), dimensions: { width: one.amount % 9, weight: 1 } }
  const category = (one: Of<typeof categories> | undefined) =>
    one && { ...one, productCount: [...products.values()].filter(({ category: of }) => of === one.id).length }
  const customer = (one: Of<typeof customers> | undefined) =>
    one && { ...one, address: address(one.city), credit: money(one.credit) }
  const warehouse = (one: Of<typeof warehouses> | undefined) =>
    one && { ...one, address: address(one.city), rent: money(one.rent) }
  const cart = (one: Of<typeof carts> | undefined) =>
    one && {
      id: one.id,
      total: money(one.products.reduce((sum, id) => sum + (products.get(id)?.amount ?? 0), 0)),
      lines: one.products.map((id) => ({ quantity: 1, product: product(products.get(id)) })),
    }
  const order = (one: Of<typeof orders> | undefined) =>
    one && { ...one, total: money(one.total), lines: [{ title: 'line', price: money(one.total) }] }
  const coupon = (one: Of<typeof coupons> | undefined) => one && { id: one.id, value: money(one.value) }
  const change = <T extends object>(all: Map<string, T>, id: string, part: Partial<T>): T | undefined => {
    const one = all.get(id)
    return one && Object.assign(one, part)
  }
  const add = <T extends object>(all: Map<string, T & { id: string }>, one: T): T & { id: string } => {
    const made = { ...one, id: `${all.size + 1}` }
    all.set(made.id, made)
    return made
  }

  const stated = (coordinate: string): object =>
    statements[coordinate] ? { dependsOn: statements[coordinate] } : {}
  // Fields of a source come with their parent; joins declare the fields that they need.
  const part = (coordinate: string) => ({ extensions: { origin: 'shop', ...stated(coordinate) } })
  const join = (key: string, resolve: (parent: Record<string, string>) => unknown) => ({
    extensions: { origin: 'shop', requires: [key] },
    resolve,
  })
  const root = (coordinate: string, resolve: (_: unknown, args: Args) => unknown) => ({
    extensions: stated(coordinate),
    resolve,
  })
  const listOf = <T, R>(all: Map<string, T>, create: (one: T) => R, limit = 100): R[] =>
    [...all.values()].slice(0, limit).map(create)

  return createSchema({
    typeDefs,
    resolvers: {
      Cart: { total: part('Cart.total') },
      Category: { productCount: part('Category.productCount') },
      Dashboard: {
        revenue: part('Dashboard.revenue'),
        orderCount: part('Dashboard.orderCount'),
      },
      Product: {
        brand: join('brand', ({ brand = '' }) => brands.get(brand)),
        category: join('category', ({ category: of = '' }) => category(categories.get(of))),
        reviews: join('id', ({ id }) => [...reviews.values()].filter((review) => review.product === id)),
      },
      Review: { author: join('customer', ({ customer: id = '' }) => customer(customers.get(id))) },
      Customer: {
        orders: join('id', ({ id }) =>
          [...orders.values()].filter((one) => one.customer === id).map((one) => order(one)),
        ),
      },
      Order: { customer: join('customer', ({ customer: id = '' }) => customer(customers.get(id))) },
      Query: {
        product: (_, { id }) => product(products.get(id)),
        products: (_, { limit }) => ({
          items: listOf(products, product, limit),
          pageInfo: { hasNextPage: products.size > (limit ?? 100) },
          totalCount: products.size,
        }),
        search: (_, { text }) =>
          [...products.values()].filter(({ name }) => name.includes(text)).map((one) => product(one)),
        brand: (_, { id }) => brands.get(id),
        brands: () => [...brands.values()],
        category: (_, { id }) => category(categories.get(id)),
        categories: () => listOf(categories, category),
        customer: (_, { id }) => customer(customers.get(id)),
        customers: (_, { limit }) => listOf(customers, customer, limit),
        review: (_, { id }) => reviews.get(id),
        warehouse: (_, { id }) => warehouse(warehouses.get(id)),
        warehouses: () => listOf(warehouses, warehouse),
        cart: (_, { id }) => cart(carts.get(id)),
        order: (_, { id }) => order(orders.get(id)),
        orders: (_, { limit }) => listOf(orders, order, limit),
        coupon: (_, { id }) => coupon(coupons.get(id)),
        coupons: () => listOf(coupons, coupon),
        dashboard: () => ({
          revenue: money([...orders.values()].reduce((sum, { total }) => sum + total, 0)),
          orderCount: orders.size,
          latest: listOf(products, product).slice(-2),
        }),
        stock: root('Query.stock', (_, { product: id }) => ({ inStock: Number(id) })),
        shipping: root('Query.shipping', (_, { city }) => money(String(city).length)),
        openOrders: root(
          'Query.openOrders',
          () => [...orders.values()].filter(({ status }) => status === 'OPEN').length,
        ),
        version: root('Query.version', () => '1'),
      },
      Mutation: {
        setPrice: (_, { id, amount }) => product(change(products, id, { amount })),
        renameProduct: (_, { id, name }) => product(change(products, id, { name })),
        renameBrand: (_, { id, name }) => change(brands, id, { name }),
        moveProduct: (_, { id, category: to }) => product(change(products, id, { category: to })),
        addProduct: (_, { name, amount }) =>
          product(add(products, { name, amount, brand: '1', category: '1' })),
        addReview: (_, args) => add(reviews, args),
        rate: (_, { id, rating }) => change(reviews, id, { rating }),
        moveCustomer: (_, { id, city }) => customer(change(customers, id, { city })),
        giveCredit: (_, { id, amount }) => customer(change(customers, id, { credit: amount })),
        setRent: (_, { id, amount }) => warehouse(change(warehouses, id, { rent: amount })),
        addToCart(_, { id, product: one }) {
          carts.get(id)?.products.push(one)
          return cart(carts.get(id))
        },
        emptyCart: (_, { id }) => cart(change(carts, id, { products: [] })),
        placeOrder: (_, { customer: id, product: one }) => ({
          order: order(add(orders, { customer: id, total: products.get(one)?.amount ?? 0, status: 'OPEN' })),
        }),
        shipOrder: (_, { id }) => ({ order: order(change(orders, id, { status: 'SHIPPED' })) }),
        setCoupon: (_, { id, amount }) => coupon(change(coupons, id, { value: amount })),
      },
    },
  })
}

type Draw = (count: number) => number

export const shopQueries = (one: Draw): readonly (() => string)[] => [
  () => `{ product(id: "${one(60)}") { id name price { amount currency } } }`,
  () => `{ product(id: "${one(60)}") { id name brand { id name } category { id name } } }`,
  () => `{ product(id: "${one(60)}") { id reviews { id rating author { id name } } } }`,
  () =>
    `{ products(limit: ${one(3) * 5}) { items { id name price { amount } } pageInfo { hasNextPage } totalCount } }`,
  () => `{ search(text: "thing ${one(6)}") { id name price { amount } } }`,
  () => `{ brand(id: "${one(10)}") { id name } }`,
  () => `{ brands { id name } }`,
  () => `{ category(id: "${one(8)}") { id name productCount } }`,
  () => `{ categories { id name } }`,
  () => `{ customer(id: "${one(60)}") { id name address { city country { code } } } }`,
  () => `{ customer(id: "${one(60)}") { id credit { amount } orders { id status total { amount } } } }`,
  () => `{ customers(limit: 10) { id name credit { amount } } }`,
  () => `{ review(id: "${one(150)}") { id rating } }`,
  () => `{ warehouse(id: "${one(5)}") { id rent { amount } address { city } } }`,
  () => `{ warehouses { id address { city } rent { amount } } }`,
  () => `{ cart(id: "${one(40)}") { id total { amount } lines { quantity product { id name } } } }`,
  () => `{ order(id: "${one(50)}") { id status total { amount } lines { title price { amount } } } }`,
  () => `{ orders(limit: 10) { id status customer { id name } } }`,
  () => `{ coupon(id: "${one(10)}") { id value { amount } } }`,
  () => `{ coupons { id value { amount } } }`,
  () => `{ dashboard { revenue { amount } orderCount latest { id name } } }`,
  () => `{ stock(product: "${one(60)}") { inStock } }`,
  () => `{ shipping(city: "city ${one(9)}") { amount } }`,
  () => `{ openOrders version }`,
]

export const shopMutations = (one: Draw): readonly (() => string)[] => [
  () => `mutation { setPrice(id: "${one(60)}", amount: ${one(900)}) { id price { amount currency } } }`,
  () => `mutation { renameProduct(id: "${one(60)}", name: "thing ${one(9)}") { id name } }`,
  () => `mutation { renameBrand(id: "${one(10)}", name: "brand ${one(99)}") { id name } }`,
  () => `mutation { moveProduct(id: "${one(60)}", category: "${one(8)}") { id category { id } } }`,
  () => `mutation { addProduct(name: "thing ${one(9)}", amount: ${one(900)}) { id price { amount } } }`,
  () =>
    `mutation { addReview(product: "${one(60)}", customer: "${one(60)}", rating: ${one(5)}) { id rating } }`,
  () => `mutation { rate(id: "${one(150)}", rating: ${one(5)}) { id rating } }`,
  () => `mutation { moveCustomer(id: "${one(60)}", city: "city ${one(9)}") { id address { city } } }`,
  () => `mutation { giveCredit(id: "${one(60)}", amount: ${one(900)}) { id credit { amount } } }`,
  () => `mutation { setRent(id: "${one(5)}", amount: ${one(900)}) { id rent { amount } } }`,
  () =>
    `mutation { addToCart(id: "${one(40)}", product: "${one(60)}") { id total { amount } lines { quantity } } }`,
  () => `mutation { emptyCart(id: "${one(40)}") { id total { amount } } }`,
  () =>
    `mutation { placeOrder(customer: "${one(60)}", product: "${one(60)}") { order { id total { amount } } } }`,
  () => `mutation { shipOrder(id: "${one(50)}") { order { id status } } }`,
  () => `mutation { setCoupon(id: "${one(10)}", amount: ${one(900)}) { id value { amount } } }`,
]
