import {
  createDisposables,
  startGrpcBackend,
  startRestBackend,
  type GrpcBackend,
  type RestBackend,
} from '@vinyasa/test-kit'
import type { GatewayConfig } from '../../apps/gateway/src/config/types.ts'
import { createGateway } from '../../apps/gateway/src/gateway.ts'
import { createLogger } from '../../apps/gateway/src/logging/logger.ts'
import { serve } from '../../apps/gateway/src/server.ts'
import type { Subgraph } from './routers.ts'

const PROTO = `syntax = "proto3"; package p;
service Users {
  rpc GetUser(Id) returns (User) { option idempotency_level = NO_SIDE_EFFECTS; }
  rpc GetUsers(Ids) returns (UserList) { option idempotency_level = NO_SIDE_EFFECTS; }
}
enum Role { NONE = 0; ADMIN = 1; GUEST = 2; }
message Id { string id = 1; Role role = 2; }
message Ids { repeated string ids = 1; }
message Address { string street = 1; string city = 2; }
message User { string id = 1; string full_name = 2; Role role = 3; Address address = 4; repeated string tags = 5; User boss = 6; int64 number = 7; }
message UserList { repeated User users = 1; }`

const user = (id: string): object => ({
  id,
  fullName: `user ${id}`,
  role: 'ADMIN',
  address: { street: `street ${id}`, city: 'Łódź' },
  tags: ['a', id],
  boss: { id: `${id}0`, fullName: 'boss' },
  number: '9007199254740993',
})

export interface World {
  readonly grpc: GrpcBackend
  readonly rest: RestBackend
  /** gRPC, REST and typeDefs. */
  readonly shop: Subgraph
  /** Knows no more of users and orders than their keys. */
  readonly reviews: Subgraph
  stop(): Promise<void>
}

export async function startWorld(): Promise<World> {
  const cleanup = createDisposables()
  const grpc = cleanup.use(
    await startGrpcBackend({
      protos: PROTO,
      handlers: {
        'p.Users/GetUser': ({ id }) => user(id),
        'p.Users/GetUsers': ({ ids }) => ({ users: ids.map(user) }),
      },
    }),
  )
  const rest = cleanup.use(
    await startRestBackend(({ url }) => {
      const id = url.pathname.split('/')[2] ?? ''
      return { json: { 'order-no': id, total: 3, buyer: '7', lines: [{ sku: 's', state: 'in-stock' }] } }
    }),
  )

  async function start(name: string, config: GatewayConfig): Promise<Subgraph> {
    const gateway = await createGateway(config, {
      baseDirectory: '.',
      logger: await createLogger({ level: 'silent' }),
    })
    const server = await serve(gateway, { port: 0, host: '127.0.0.1' })
    cleanup.use({ close: () => server.close({ graceMs: 0 }) })
    return { name, url: `${server.url}/graphql` }
  }

  const shop = await start('shop', {
    grpc: {
      users: {
        protoText: { 'p.proto': PROTO },
        endpoint: grpc.address,
        expose: 'all',
        rename: {
          User: 'Account',
          'User.fullName': 'name',
          'Query.getUser': 'account',
          'Query.getUsers': 'accounts',
        },
        methods: { 'p.Users.GetUsers': { schema: { type: 'QUERY', response: { pluck: 'users' } } } },
        joins: [
          {
            type: 'Order',
            field: 'customer',
            batch: { method: 'p.Users.GetUsers', keys: 'ids', items: 'users', parentKey: 'buyer' },
          },
        ],
      },
    },
    rest: {
      orders: {
        baseUrl: rest.url,
        types: {
          Order: {
            kind: 'object',
            fields: {
              number: { type: 'ID', key: 'order-no' },
              total: { type: 'Int' },
              buyer: { type: 'ID' },
              lines: { type: '[Line!]' },
            },
          },
          Line: { kind: 'object', fields: { sku: { type: 'String' }, state: { type: 'Stock' } } },
          Stock: { kind: 'enum', values: { IN_STOCK: { value: 'in-stock' } } },
        },
        endpoints: [
          { name: 'order', path: '/orders/{number}', args: { number: 'ID!' }, returnType: 'Order' },
        ],
      },
    },
    typeDefs: `
      type Tag @key(fields: "word") { word: String! size: Int! first: Order }
      extend type Order { isLarge: Boolean! tags: [Tag!]! }
      extend type Query { tag(word: String!): Tag }`,
    resolvers: {
      Order: { isLarge: ({ total }) => total > 2, tags: ({ number }) => [{ word: `n${String(number)}` }] },
      Tag: {
        size: ({ word }) => word.length,
        first: (_tag, _args, context) =>
          context.sources.orders.execute('order', { number: '1' }, { context }),
      },
      Query: { tag: (_, { word }) => ({ word }) },
    },
    federation: {
      entities: {
        Account: { key: 'id', field: 'accounts', args: { ids: 'id' } },
        Order: { key: 'number' },
        Tag: { key: 'word', field: false },
      },
    },
  })
  const reviews = await start('reviews', {
    typeDefs: `
      type Account @key(fields: "id") { id: String reviews: [Review!]! }
      type Order @key(fields: "number") { number: ID stars: Int! }
      type Review { id: ID! text: String! author: Account about: Order }
      type Query { latest: [Review!]! }`,
    resolvers: {
      Query: {
        latest: () =>
          ['1', '2', '3'].map((id) => ({
            id,
            text: `text ${id}`,
            author: { id },
            about: { number: `o${id}` },
          })),
      },
      Account: { reviews: ({ id }) => [{ id: `r${id}`, text: 'good', author: { id } }] },
      Order: { stars: ({ number }) => String(number).length },
    },
    federation: true,
  })
  return { grpc, rest, shop, reviews, stop: () => cleanup.dispose() }
}
