// The share of a random mix on the demo's schema that the response cache answers, and of those answers the share that
// is wrong: `pnpm bench:hit-rate`. `--stated` states what types do not show, as the demo's config does. `RESPONSE_CACHE`
// names another build of the package, to compare. `--schema shop` measures a shop with 20 types, and Yoga's cache plugin.
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { useResponseCache as useYogaResponseCache } from '@graphql-yoga/plugin-response-cache'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { createShop, SHOP_STATEMENTS, shopMutations, shopQueries } from './src/shop.ts'

const typeDefs = /* GraphQL */ `
  type User {
    id: String!
    name: String!
    status: String!
    profile: UserProfile
    reviews: [Review!]
  }
  type UserProfile {
    userId: String!
    bio: String!
  }
  type ListUsersResponse {
    users: [User!]!
    totalCount: Int!
  }
  type Product {
    id: ID!
    name: String!
    price: Float!
  }
  type Review {
    id: ID!
    productId: ID!
    userId: ID!
    rating: Int!
    author: User
  }
  type Stock {
    productId: ID!
    inStock: Int!
  }
  type Deal {
    product: Product!
    discountPercent: Int!
  }
  type Query {
    users(status: String, limit: Int): ListUsersResponse
    user(id: String!): User
    onlineCount: Int!
    getProduct(id: ID!): Product
    searchProducts(query: String!): [Product!]!
    getStock(id: ID!): Stock
    dealOfTheDay: Deal
    listReviews(productId: ID!): [Review!]!
  }
  type Mutation {
    createUser(name: String!): User
    updateUser(id: String!, name: String, status: String): User
    deleteUser(id: String!): User
    createReview(productId: ID!, userId: ID!, rating: Int!): Review
    updateProduct(id: ID!, name: String, price: Float): Product
  }
`

interface CachePackage {
  readonly useResponseCache: (options: object) => object
}

/** A seeded generator of numbers below 1 (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function createDemo(isStated: boolean) {
  const statuses = ['ONLINE', 'AWAY', 'OFFLINE']
  const users = new Map(
    Array.from({ length: 100 }, (_, n) => [
      `${n + 1}`,
      { id: `${n + 1}`, name: `user ${n + 1}`, status: statuses[n % 3] ?? '' },
    ]),
  )
  const products = new Map(
    Array.from({ length: 50 }, (_, n) => [`${n + 1}`, { id: `${n + 1}`, name: `thing ${n % 7}`, price: n }]),
  )
  const reviews = Array.from({ length: 200 }, (_, n) => ({
    id: `${n + 1}`,
    productId: `${(n % 50) + 1}`,
    userId: `${(n % 100) + 1}`,
    rating: n % 6,
  }))
  let nextUser = 101
  const online = () => [...users.values()].filter(({ status }) => status === 'ONLINE')
  // Fields of a source say where they come from; joins say what they need.
  const stated = (...dependsOn: string[]) => (isStated ? { dependsOn } : {})
  const join = (requires: string, statement: object = {}) => ({
    extensions: { origin: 'demo', requires: [requires], ...statement },
  })
  return createSchema({
    typeDefs,
    resolvers: {
      Query: {
        users: (_, { status, limit }) => ({
          users: (status
            ? [...users.values()].filter((user) => user.status === status)
            : [...users.values()]
          ).slice(0, limit ?? 100),
          totalCount: users.size,
        }),
        user: (_, { id }) => users.get(id),
        onlineCount: { extensions: stated('User'), resolve: () => online().length },
        getProduct: (_, { id }) => products.get(id),
        searchProducts: (_, { query }) =>
          [...products.values()].filter(({ name }) => name.includes(query)).slice(0, 10),
        getStock: {
          extensions: stated(),
          resolve: (_: unknown, { id }: { id: string }) => ({ productId: id, inStock: Number(id) }),
        },
        dealOfTheDay: () => ({ product: products.get('1'), discountPercent: 10 }),
        listReviews: (_, { productId }) => reviews.filter((review) => review.productId === productId),
      },
      User: {
        profile: {
          ...join('id', stated()),
          resolve: ({ id }: { id: string }) => ({ userId: id, bio: `of ${id}` }),
        },
        reviews: {
          ...join('id'),
          resolve: ({ id }: { id: string }) => reviews.filter(({ userId }) => userId === id),
        },
      },
      Review: {
        author: { ...join('userId'), resolve: ({ userId }: { userId: string }) => users.get(userId) },
      },
      Mutation: {
        createUser(_, { name }) {
          const user = { id: `${nextUser++}`, name, status: 'OFFLINE' }
          users.set(user.id, user)
          return user
        },
        updateUser(_, { id, name, status }) {
          const user = users.get(id)
          if (!user) return null
          const changed = { ...user, name: name ?? user.name, status: status ?? user.status }
          users.set(id, changed)
          return changed
        },
        deleteUser(_, { id }) {
          const user = users.get(id)
          users.delete(id)
          return user
        },
        createReview(_, args) {
          const review = { id: `${reviews.length + 1}`, ...args }
          reviews.push(review)
          return review
        },
        updateProduct(_, { id, name, price }) {
          const product = products.get(id)
          if (!product) return null
          const changed = { ...product, name: name ?? product.name, price: price ?? product.price }
          products.set(id, changed)
          return changed
        },
      },
    },
  })
}

function createMix(random: () => number, isShop: boolean) {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  // Few are asked for often.
  const one = (count: number): number => 1 + Math.floor(random() ** 3 * count)
  const queries: readonly (() => string)[] = isShop
    ? shopQueries(one)
    : [
        () =>
          `{ users(status: "${pick(['ONLINE', 'AWAY', 'OFFLINE'])}", limit: ${pick([3, 10])}) { users { id name status } } }`,
        () => `{ users(limit: 10) { totalCount users { id name } } }`,
        () => `{ users { totalCount } }`,
        () => `{ user(id: "${one(100)}") { id name status } }`,
        () => `{ user(id: "${one(100)}") { name profile { bio } } }`,
        () => `{ user(id: "${one(100)}") { name reviews { id rating } } }`,
        () => `{ onlineCount }`,
        () => `{ getProduct(id: "${one(50)}") { id name price } }`,
        () => `{ getProduct(id: "${one(50)}") { name } users(limit: 3) { users { name } } }`,
        () => `{ searchProducts(query: "thing ${one(7)}") { id name } }`,
        () => `{ getStock(id: "${one(50)}") { inStock } }`,
        () => `{ dealOfTheDay { discountPercent product { name price } } }`,
        () => `{ listReviews(productId: "${one(50)}") { id rating author { name } } }`,
      ]
  const mutations: readonly (() => string)[] = isShop
    ? shopMutations(one)
    : [
        () => `mutation { updateUser(id: "${one(100)}", name: "n${one(1000)}") { id } }`,
        () => `mutation { updateUser(id: "${one(100)}", status: "${pick(['ONLINE', 'AWAY'])}") { id name } }`,
        () => `mutation { createUser(name: "n${one(1000)}") { id } }`,
        () =>
          `mutation { createReview(productId: "${one(50)}", userId: "${one(100)}", rating: ${one(5)}) { id } }`,
        () => `mutation { updateProduct(id: "${one(50)}", price: ${one(100)}) { id } }`,
      ]
  return (share: number): string => (random() < share ? pick(mutations) : pick(queries))()
}

interface Run {
  readonly isShop: boolean
  readonly isStated: boolean
  /** Creates the plugin that caches responses. */
  readonly plugin: () => object
  readonly share: number
  readonly count: number
  readonly seed: number
}

const isHit = (response: Response, body: string): boolean =>
  response.headers.get('x-cache') === 'HIT' || body.includes('"responseCache":{"hit":true')

async function measure({ isShop, isStated, plugin, share, count, seed }: Run) {
  const schema = isShop ? createShop(isStated ? SHOP_STATEMENTS : {}) : createDemo(isStated)
  const serve = (plugins: readonly object[]) =>
    createYoga({ schema, plugins: plugins as Plugin[], logging: false })
  const cached = serve([plugin()])
  const plain = serve([])
  const next = createMix(seeded(seed), isShop)
  const send = (server: typeof plain, query: string): Promise<Response> =>
    Promise.resolve(
      server.fetch('http://localhost/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      }),
    )
  let asked = 0
  let hits = 0
  let wrong = 0
  for (let n = 0; n < count; n++) {
    const text = next(share)
    const response = await send(cached, text)
    const body = await response.text()
    if (text.startsWith('mutation')) continue
    asked++
    if (!isHit(response, body)) continue
    hits++
    const { data } = JSON.parse(body) as { readonly data: unknown }
    const current = (await (await send(plain, text)).json()) as { readonly data: unknown }
    if (!isDeepStrictEqual(data, current.data)) wrong++
  }
  return { hitRate: hits / asked, wrongHits: hits === 0 ? 0 : wrong / hits }
}

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    stated: { type: 'boolean', default: false },
    schema: { type: 'string', default: 'demo' },
  },
})
const cachePackage = (await import(
  process.env['RESPONSE_CACHE'] ?? '@vinyasa/response-cache'
)) as CachePackage
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
process.stdout.write(
  `${values.count} operations a row, seed ${values.seed}\n| mutations | strategy | hits | of them wrong |\n| --- | --- | --- | --- |\n`,
)
const isShop = values.schema === 'shop'
const ttl = 3_600_000
const caches: Readonly<Record<string, () => object>> = {
  types: () => cachePackage.useResponseCache({ strategy: 'types', defaultTtlMs: ttl }),
  entities: () => cachePackage.useResponseCache({ strategy: 'entities', defaultTtlMs: ttl }),
  ...(isShop && {
    "Yoga's plugin": () => useYogaResponseCache({ session: () => null, ttl, includeExtensionMetadata: true }),
  }),
}
for (const share of [0.02, 0.1]) {
  for (const [strategy, plugin] of Object.entries(caches)) {
    const { count, seed, stated: isStated } = values
    const run = { isShop, isStated, plugin, share, count: Number(count), seed: Number(seed) }
    const { hitRate, wrongHits } = await measure(run)
    process.stdout.write(
      `| ${percent(share)} | ${strategy} | ${percent(hitRate)} | ${percent(wrongHits)} |\n`,
    )
  }
}
