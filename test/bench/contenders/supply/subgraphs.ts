import { createServer } from 'node:http'
import { graphql, type GraphQLSchema } from 'graphql'
import { createSchema } from 'graphql-yoga'
import { serveProgram } from '../../src/serve-program.ts'
import { productOf, products, type Review, reviewsBy, reviewsOf, stockOf, userOf, users } from './data.ts'

// The same services as federation's subgraphs, each at a path: what a gateway of GraphQL alone is put in front of.

interface Subgraph {
  readonly typeDefs: string
  readonly entities: readonly string[]
  /** What it knows of an entity beyond its key. */
  readonly find?: (key: any) => object
  readonly fields: Record<string, Record<string, (source: any, args: any) => unknown>>
}

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])'

const subgraphs: Readonly<Record<string, Subgraph>> = {
  users: {
    typeDefs: `
      type Query { users: UserList! }
      type UserList { items: [User!]! }
      type User @key(fields: "id") { id: String! name: String username: String }`,
    entities: ['User'],
    find: ({ id }) => userOf(id),
    fields: { Query: { users: () => ({ items: users }) } },
  },
  products: {
    typeDefs: `
      type Query { topProducts(limit: Int): ProductList! }
      type ProductList { items: [Product!]! }
      type Product @key(fields: "upc") { upc: String! name: String price: Float weight: Int }`,
    entities: ['Product'],
    find: ({ upc }) => productOf(upc),
    fields: { Query: { topProducts: (_, { limit }) => ({ items: products.slice(0, limit) }) } },
  },
  reviews: {
    typeDefs: `
      type Review { id: String! body: String author: User product: Product }
      type User @key(fields: "id") { id: String! reviews: [Review!] }
      type Product @key(fields: "upc") { upc: String! reviews: [Review!] }`,
    entities: ['User', 'Product'],
    fields: {
      Review: {
        author: ({ authorId }: Review) => ({ id: authorId }),
        product: ({ productUpc }: Review) => ({ upc: productUpc }),
      },
      User: { reviews: ({ id }) => reviewsBy(id) },
      Product: { reviews: ({ upc }) => reviewsOf(upc) },
    },
  },
  inventory: {
    typeDefs: `
      type Inventory { inStock: Boolean shippingEstimate: Int }
      type Product @key(fields: "upc") { upc: String! inventory: Inventory }`,
    entities: ['Product'],
    fields: { Product: { inventory: ({ upc }) => stockOf(upc) } },
  },
}

interface Representation {
  readonly __typename: string
}

function schemaOf({ typeDefs, entities, find, fields }: Subgraph): GraphQLSchema {
  return createSchema({
    typeDefs: `
      directive @key(fields: String!) repeatable on OBJECT
      scalar _Any
      union _Entity = ${entities.join(' | ')}
      type _Service { sdl: String }
      ${typeDefs.includes('type Query') ? 'extend type Query' : 'type Query'} {
        _service: _Service! _entities(representations: [_Any!]!): [_Entity]!
      }
      ${typeDefs}`,
    resolvers: {
      ...fields,
      _Entity: { __resolveType: ({ __typename }: Representation) => __typename },
      Query: {
        ...fields['Query'],
        _service: () => ({ sdl: `${LINK}\n${typeDefs}` }),
        _entities: (_: unknown, { representations }: { representations: readonly Representation[] }) =>
          representations.map((given) => ({
            ...given,
            ...(find?.(given) as object),
          })),
      },
    },
  })
}

const schemas = Object.fromEntries(
  Object.entries(subgraphs).map(([name, subgraph]) => [`/${name}`, schemaOf(subgraph)]),
)
/** Each answer is made once: what is behind a gateway should take as little of the machine as it can. */
const known = new Map<string, string>()

async function answerTo(path: string, body: string): Promise<string> {
  const { query: source, variables: variableValues } = JSON.parse(body)
  return JSON.stringify(await graphql({ schema: schemas[path] as GraphQLSchema, source, variableValues }))
}

serveProgram(
  createServer(async (request, response) => {
    const { url = '' } = request
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const key = `${url} ${body}`
    let text = known.get(key)
    if (text === undefined) known.set(key, (text = await answerTo(url, body)))
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    response.end(text)
  }),
)
