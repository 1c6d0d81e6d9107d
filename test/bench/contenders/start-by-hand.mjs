// What a person would write for the demo: the same backends, a cache, @defer, live queries, WebSockets. Without the
// demo's joins, limits, logs, metrics and status page.
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { useLiveQuery } from '@envelop/live-query'
import { useDeferStream } from '@graphql-yoga/plugin-defer-stream'
import { useResponseCache } from '@graphql-yoga/plugin-response-cache'
import { credentials, loadPackageDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { InMemoryLiveQueryStore } from '@n1ru4l/in-memory-live-query-store'
import { useServer } from 'graphql-ws/use/ws'
import { createSchema, createYoga } from 'graphql-yoga'
import { WebSocketServer } from 'ws'

const folder = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const definition = loadSync('demo/users/v1/users.proto', {
  includeDirs: [folder('apps/demo-users/proto'), folder('packages/grpc-source/proto')],
})
const { demo } = loadPackageDefinition(definition)
const client = new demo.users.v1.UserService(process.env.USERS_ADDRESS, credentials.createInsecure())
const call = (method, request) =>
  new Promise((resolve, reject) => {
    client[method](request, (error, reply) => (error ? reject(error) : resolve(reply)))
  })
const get = async (path) => (await fetch(process.env.SHOP_URL + path)).json()

const yoga = createYoga({
  schema: createSchema({
    typeDefs: `
      type Query {
        users(limit: Int): Users
        user(id: ID!): User
        getProduct(id: ID!): Product
        listReviews(productId: ID!): [Review!]!
      }
      type Mutation { updateUser(id: ID!, name: String): User }
      type Users { users: [User!]! totalCount: Int }
      type User { id: ID! name: String email: String status: String }
      type Product { id: ID! name: String! description: String price: Float! category: String }
      type Review { id: ID! productId: ID! userId: ID! rating: Int! text: String }
    `,
    resolvers: {
      Query: {
        users: (_, args) => call('ListUsers', args),
        user: (_, args) => call('GetUser', args),
        getProduct: (_, { id }) => get(`/products/${encodeURIComponent(id)}`),
        listReviews: (_, { productId }) => get(`/products/${encodeURIComponent(productId)}/reviews`),
      },
      Mutation: { updateUser: (_, args) => call('UpdateUser', args) },
    },
  }),
  plugins: [
    useResponseCache({ session: () => null, ttl: 10_000 }),
    useDeferStream(),
    useLiveQuery({ liveQueryStore: new InMemoryLiveQueryStore() }),
  ],
})
const server = createServer(yoga)
useServer({ schema: () => yoga.getEnveloped({}).schema }, new WebSocketServer({ server, path: '/graphql' }))
server.listen(0, '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port}`))
