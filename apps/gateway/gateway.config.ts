import { defineConfig } from '@vinyasa/gateway'

const USERS = process.env['USERS_ADDRESS'] ?? '127.0.0.1:50051'
const SHOP = process.env['SHOP_URL'] ?? 'http://127.0.0.1:4010'
// With it, gateways beside each other share cached answers and tell each other what changed.
const REDIS = process.env['REDIS_URL']

const product = {
  typeName: 'Product',
  fields: {
    id: 'id!',
    name: 'string!',
    description: 'string',
    price: 'float!',
    category: 'string',
  },
}

const review = {
  typeName: 'Review',
  fields: {
    id: 'id!',
    productId: 'id!',
    userId: 'id!',
    rating: 'int!',
    text: 'string',
  },
}

export default defineConfig({
  redisUrl: REDIS,
  responseCache: { defaultTtlMs: 10_000 },
  // What types do not show: no mutation changes profiles or stock, and a count of users is made of users.
  dependencies: {
    'User.profile': { dependsOn: [] },
    'Query.getStock': { dependsOn: [] },
    'Query.onlineCount': { dependsOn: ['User'] },
  },
  graphql: {
    examples: [
      {
        query: `# One query, two backends: users over gRPC,
# the product over REST.
query Both {
  users(status: ONLINE, limit: 3) {
    users {
      id
      name
    }
  }
  getProduct(id: "1") {
    name
    price
  }
}
`,
      },
      {
        query: `# A live query. It stays open and shows
# each change as it happens. Run it, then run
# the mutation of the next tab in another window.
query Live @live {
  users(status: ONLINE, limit: 3) {
    totalCount
    users {
      id
      name
      status
    }
  }
}
`,
      },
      {
        query: `# Run it with different names. The live query
# in the other window updates each time.
mutation Change {
  updateUser(id: "1", name: "Ada, renamed") {
    id
    name
  }
}
`,
      },
      {
        query: `# The name arrives immediately, the profile
# when its slow service has responded.
query Deferred {
  user(id: "1") {
    name
    ... @defer {
      profile {
        bio
      }
    }
  }
}
`,
      },
    ],
  },
  grpc: {
    users: {
      endpoint: USERS,
      // A service that hangs is noticed within a second. Ask less often of servers that take it for abuse.
      channel: { keepalive: { timeMs: 500, timeoutMs: 400 } },
      protoFiles: ['../demo-users/proto/demo/users/v1/users.proto'],
      includePaths: ['../demo-users/proto'],
      hideUnspecified: true,
      joins: [
        {
          type: 'User',
          field: 'profile',
          batch: {
            method: 'demo.users.v1.UserService.BatchGetUserProfiles',
            keys: 'userIds',
            parentKey: 'id',
            items: 'profiles',
            itemKey: 'userId',
          },
        },
        {
          type: 'Review',
          field: 'author',
          batch: {
            method: 'demo.users.v1.UserService.BatchGetUsers',
            keys: 'ids',
            parentKey: 'userId',
            items: 'users',
          },
        },
      ],
    },
  },
  rest: {
    shop: {
      baseUrl: SHOP,
      healthPath: '/health',
      endpoints: [
        { name: 'getProduct', path: '/products/{id}', args: { id: 'ID!' }, responseSchema: product },
        {
          name: 'searchProducts',
          method: 'POST',
          asQuery: true,
          path: '/products/search',
          responsePath: '$.items',
          bodyTemplate: '{ "query": {query}, "limit": {limit} }',
          args: { query: 'String!', limit: 'Int' },
          responseSchema: product,
          returnType: '[Product!]!',
        },
        // Answers 503 twice before it succeeds: the connector's retries make it whole.
        {
          name: 'getStock',
          path: '/products/{id}/stock',
          args: { id: 'ID!' },
          responseSchema: {
            typeName: 'Stock',
            fields: { productId: 'id!', inStock: 'int!', warehouse: 'string' },
          },
        },
        {
          name: 'dealOfTheDay',
          path: '/deals/today',
          responsePath: '$.data.items[0]',
          responseSchema: { typeName: 'Deal', fields: { product: 'Product!', discountPercent: 'int!' } },
        },
        {
          name: 'listReviews',
          path: '/products/{productId}/reviews',
          args: { productId: 'ID!' },
          responseSchema: review,
          returnType: '[Review!]!',
          liveQuery: { enabled: true },
        },
        {
          name: 'createReview',
          method: 'POST',
          path: '/reviews',
          args: { productId: 'ID!', userId: 'ID!', rating: 'Int!', text: 'String!' },
          responseSchema: review,
        },
        {
          name: 'reviewsByUsers',
          path: '/reviews',
          queryParams: { userIds: '{userIds}' },
          queryArrayFormat: 'comma',
          args: { userIds: '[ID!]!' },
          responseSchema: review,
          returnType: '[Review!]!',
          rootField: false,
          on: {
            type: 'User',
            field: 'reviews',
            args: { userIds: '{id}' },
            batch: { key: 'userId', many: true },
          },
        },
        {
          name: 'updateProduct',
          method: 'PATCH',
          path: '/products/{id}',
          args: { id: 'ID!', name: 'String', description: 'String', price: 'Float' },
          responseSchema: product,
        },
      ],
    },
  },
})
