// What every contender of the cache benchmark serves.

export const itemCount: number = Number(process.env['BENCH_ITEMS'] ?? 20)

export const typeDefs: string = `
  type Query { items: [Item!]! constant: String! }
  type Item { id: ID! name: String! price: Float! stock: Int! tag: String! }
`

export interface CacheItem {
  readonly id: string
  readonly name: string
  readonly price: number
  readonly stock: number
  readonly tag: string
}

export const itemsOf = (count: number): CacheItem[] =>
  Array.from({ length: count }, (_, index) => ({
    id: String(index),
    name: `item ${index}`,
    price: index / 4,
    stock: index,
    tag: `tag ${index % 7}`,
  }))

export const cacheItems: readonly CacheItem[] = itemsOf(itemCount)

export const itemsQuery = '{ items { id name price stock tag } }'
