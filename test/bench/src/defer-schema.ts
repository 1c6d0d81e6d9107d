// The schema that every contender of the @defer benchmark serves.

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export const typeDefs: string = `
  type Query {
    fast: String
    slow(ms: Int!): String
    busy(ms: Int!): String
    items(count: Int!): [Item!]!
  }
  type Item { id: ID! name: String! price: Float! details: Details! rating: Rating! }
  type Rating { stars: Int! votes: Int! }
  type Details { text: String! stock: Int! tags: [String!]! }
`

/** For servers that do not bring them. */
export const directives: string = `
  directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
`

interface Item {
  readonly id: string
  readonly name: string
  readonly price: number
}

export const resolvers: Record<string, Record<string, (source: any, args: any) => unknown>> = {
  Query: {
    fast: () => 'fast',
    slow: (_, { ms }: { ms: number }) => sleep(ms).then(() => `after ${ms}`),
    busy: (_, { ms }: { ms: number }) => {
      const until = performance.now() + ms
      while (performance.now() < until);
      return `busy for ${ms}`
    },
    items: (_, { count }: { count: number }): Item[] =>
      Array.from({ length: count }, (_, index) => ({
        id: String(index),
        name: `item ${index}`,
        price: index / 4,
      })),
  },
  Item: {
    // As a resolver that asks a data loader does it.
    rating: async ({ id }: Item) => ({ stars: Number(id) % 5, votes: Number(id) }),
    details: ({ id }: Item) => ({ text: `what is to be said of ${id}`, stock: Number(id), tags: ['a', 'b'] }),
  },
}
