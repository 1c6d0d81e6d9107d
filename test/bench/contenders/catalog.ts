/** What the catalog's backends hold, and the checks know. */
export interface Product {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly brand: string
  readonly price: number
  readonly stock: number
  readonly active: boolean
  readonly rating: number
  readonly reviews: number
  readonly updated: string
}

export function product(number: number): Product {
  return {
    id: String(number),
    name: `Product number ${number}`,
    description: `A thing of use, the ${number}th of its kind, with a few words on what it is good for`,
    brand: `Brand ${number % 7}`,
    price: number + 0.5,
    stock: number * 3,
    active: number % 2 === 0,
    rating: (number % 50) / 10,
    reviews: number * 11,
    updated: '2026-01-02T03:04:05Z',
  }
}

export function products(count: number): Product[] {
  return Array.from({ length: count }, (_, index) => product(index + 1))
}

export const fields = 'id name description brand price stock active rating reviews updated'

export const typeDefs = `
  type Product {
    id: String! name: String description: String brand: String price: Float stock: Int active: Boolean
    rating: Float reviews: Int updated: String
  }
  type ProductList { items: [Product!] }
  type Query { product(id: String!): Product products(limit: Int): ProductList }
  type Mutation { updateProduct(id: String!): Product }
`
