import { repository } from '../../e2e/support/demo.ts'

export interface ConfigSettings {
  readonly usersAddress: string
  readonly shopUrl: string
  readonly redisUrl: string
  /** Differs from one reload to the next. */
  readonly defaultTtlMs: number
}

const product = { typeName: 'Product', fields: { id: 'id!', name: 'string!', description: 'string' } }
const review = {
  typeName: 'Review',
  fields: { id: 'id!', productId: 'id!', userId: 'id!', rating: 'int!', text: 'string' },
}
const USERS = 'demo.users.v1.UserService'

/** The demo's gateway with Redis and a cache whose entries grow stale now and then. */
export function gatewayConfig({ usersAddress, shopUrl, redisUrl, defaultTtlMs }: ConfigSettings): object {
  return {
    log: { format: 'json' },
    redisUrl,
    responseCache: { defaultTtlMs, staleWhileRevalidateMs: 10_000 },
    grpc: {
      users: {
        endpoint: usersAddress,
        channel: { keepalive: { timeMs: 500, timeoutMs: 500 } },
        protoFiles: [repository('apps/demo-users/proto/demo/users/v1/users.proto')],
        includePaths: [repository('apps/demo-users/proto')],
        hideUnspecified: true,
        joins: [
          {
            type: 'User',
            field: 'profile',
            batch: {
              method: `${USERS}.BatchGetUserProfiles`,
              keys: 'userIds',
              parentKey: 'id',
              items: 'profiles',
              itemKey: 'userId',
            },
          },
          {
            type: 'Review',
            field: 'author',
            batch: { method: `${USERS}.BatchGetUsers`, keys: 'ids', parentKey: 'userId', items: 'users' },
          },
        ],
      },
    },
    rest: {
      shop: {
        baseUrl: shopUrl,
        healthPath: '/health',
        endpoints: [
          {
            name: 'getProduct',
            path: '/products/{id}',
            args: { id: 'ID!' },
            responseSchema: product,
            liveQuery: { enabled: true },
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
            name: 'updateProduct',
            method: 'PATCH',
            path: '/products/{id}',
            args: { id: 'ID!', description: 'String' },
            responseSchema: product,
          },
        ],
      },
    },
  }
}
