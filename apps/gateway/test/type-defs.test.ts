import { startGrpcBackend, startRestBackend, type GrpcBackend, type RestBackend } from '@vinyasa/test-kit'
import { printSchema } from 'graphql'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import type { Gateway } from '../src/gateway.ts'
import { createLogger } from '../src/logging/logger.ts'
import { ask, openGateway, type OpenOptions } from './support/gateway.ts'

const PROTO = `syntax = "proto3"; package p;
service Users { rpc GetUser(Id) returns (User) { option idempotency_level = NO_SIDE_EFFECTS; } rpc GetUsers(Ids) returns (Users_) { option idempotency_level = NO_SIDE_EFFECTS; } }
message Id { string id = 1; }
message Ids { repeated string ids = 1; }
enum Role { NONE = 0; ADMIN = 1; }
message User { string id = 1; string full_name = 2; Role role = 3; }
message Users_ { repeated User users = 1; }`

let grpc: GrpcBackend
let rest: RestBackend
beforeAll(async () => {
  const user = (id: string): object => ({ id, fullName: `user ${id}`, role: 'ADMIN' })
  grpc = await startGrpcBackend({
    protos: PROTO,
    handlers: {
      'p.Users/GetUser': ({ id }) => user(id),
      'p.Users/GetUsers': ({ ids }) => ({ users: ids.map(user) }),
    },
  })
  rest = await startRestBackend(() => ({ json: { id: 'o1', 'customer-id': '7', total: 3 } }))
})
afterAll(async () => {
  await grpc.stop()
  await rest.stop()
})

function start(further: GatewayConfig, options: OpenOptions = {}): Promise<Gateway> {
  const config: GatewayConfig = {
    grpc: {
      users: {
        protoText: { 'p.proto': PROTO },
        endpoint: grpc.address,
        expose: 'all',
        rename: { User: 'Account', 'User.fullName': 'name' },
        joins: [
          {
            type: 'Report',
            field: 'author',
            batch: { method: 'p.Users.GetUsers', keys: 'ids', items: 'users', parentKey: 'authorId' },
          },
        ],
      },
    },
    rest: {
      shop: {
        baseUrl: rest.url,
        types: {
          Order: {
            kind: 'object',
            fields: {
              id: { type: 'ID' },
              customerId: { type: 'ID', key: 'customer-id' },
              total: { type: 'Int' },
            },
          },
        },
        endpoints: [{ name: 'order', path: '/order', returnType: 'Order' }],
      },
    },
    ...further,
  }
  return openGateway(config, options)
}

it('extends types of sources, names them in types of its own, and calls sources', async () => {
  const gateway = await start({
    typeDefs: `
      extend type Order { customer: Account, report: Report! }
      type Report { authorId: ID!, order: Order, lines: [Line!]! }
      union Line = Order | Account
      interface Identified { id: ID }
      extend type Order implements Identified
      extend enum Role { OWNER }
      extend type Query { report: Report, orders: [Order!] }
      type Mutation { touch(order: ID!): Order }
    `,
    resolvers: {
      Order: {
        customer: (order: { customerId: string }, _: unknown, context: any) =>
          context.sources.users.call('p.Users.GetUser', { id: order.customerId }, { context }),
        report: (order: object) => ({ authorId: '3', order }),
      },
      Report: {
        lines: () => [{ __typename: 'Order', id: 'x' }],
      },
      Query: {
        report: () => ({ authorId: '4' }),
        orders: async (_: unknown, __: unknown, context: any) => [
          await context.sources.shop.execute('order', {}, { context }),
        ],
      },
      Mutation: { touch: (_: unknown, { order }: { order: string }) => ({ id: order }) },
    },
  })
  const { data, errors } = await ask(
    gateway,
    `{ order { customer { id name role __typename } report { author { name } order { customerId } lines { __typename ... on Order { id } } } }
       report { authorId author { id name } order { id } }
       orders { customerId total customer { name } } }`,
  )
  expect(errors).toBeUndefined()
  expect(data).toEqual({
    order: {
      customer: { id: '7', name: 'user 7', role: 'ADMIN', __typename: 'Account' },
      report: {
        author: { name: 'user 3' },
        order: { customerId: '7' },
        lines: [{ __typename: 'Order', id: 'x' }],
      },
    },
    report: { authorId: '4', author: { id: '4', name: 'user 4' }, order: null },
    orders: [{ customerId: '7', total: 3, customer: { name: 'user 7' } }],
  })
  expect((await ask(gateway, 'mutation { touch(order: "9") { id } }')).data).toEqual({ touch: { id: '9' } })
  expect(printSchema(gateway.schema)).toContain('type Order implements Identified')
})

it('what is not extended is planned as before', async () => {
  const outcomes: string[] = []
  const write = (line: string): void => {
    const { msg, outcome } = JSON.parse(line) as { readonly msg: string; readonly outcome: string }
    if (msg.startsWith('rest source')) outcomes.push(outcome)
  }
  const logger = await createLogger({ level: 'debug', destination: { write } })
  const gateway = await start(
    {
      typeDefs: 'extend type Order { twice: Int } type Report { authorId: ID }',
      resolvers: { Order: { twice: ({ total }: { total: number }) => total * 2 } },
      rest: {
        shop: {
          baseUrl: rest.url,
          endpoints: [
            {
              name: 'order',
              path: '/order',
              responseSchema: { typeName: 'Order', fields: { total: 'int' } },
            },
          ],
        },
      },
    },
    { logger },
  )
  expect((await ask(gateway, '{ order { total } getUser(id: "1") { name } }')).data.order).toEqual({
    total: 3,
  })
  expect((await ask(gateway, '{ order { twice } }')).data.order).toEqual({ twice: 6 })
  expect(outcomes).toEqual(['planned', 'unplanned'])
})

describe('a source whose only query clients do not see', () => {
  it.each([
    'type Query { library: [Book!]! }',
    'extend type Query { library: [Book!]! }',
    'extend type Query { library: [Book!]! } extend type Query { more: Book } extend type Book { more: String }',
    'type Shelf { books: [Book!]! } extend type Query { library: [Book!]! shelf: Shelf }',
  ])('gives types to %s', async (typeDefs) => {
    const books = await startRestBackend(() => ({ json: [{ id: '1' }] }))
    onTestFinished(() => books.stop())
    const fields = { id: { type: 'ID' } } as const
    const gateway = await openGateway({
      rest: {
        books: {
          baseUrl: books.url,
          endpoints: [
            {
              name: 'books',
              path: '/books',
              responseSchema: { typeName: 'Book', fields },
              returnType: '[Book!]!',
            },
          ],
          hide: ['Query.books'],
        },
      },
      typeDefs,
      resolvers: { Query: { library: (_root, _args, { sources }) => sources.books.execute('books') } },
    })
    expect(await ask(gateway, '{ library { id } }')).toEqual({ data: { library: [{ id: '1' }] } })
  })
})

describe('what is wrong is told with its place, all at once', () => {
  it.each<[string, GatewayConfig, RegExp[]]>([
    [
      'types that nothing has',
      { typeDefs: 'extend type Ordr { a: Int }\nextend type Order {\n  who: Acount\n}' },
      [
        /^typeDefs:1:13: Cannot extend type "Ordr".*did you mean "Order"/im,
        /^typeDefs:3:8: Unknown type "Acount".*did you mean "Account"/im,
      ],
    ],
    [
      'fields that are there, in the second text',
      { typeDefs: ['type A { a: Int }', 'extend type Account { name: Int }'] },
      [/^typeDefs\[1\]:1:23: Field "Account.name" already exists/m],
    ],
    [
      'syntax of several texts',
      { typeDefs: ['type {', 'type B {}'] },
      [/^typeDefs\[0\]:1:6: Syntax Error/m, /^typeDefs\[1\]:1:9: Syntax Error/m],
    ],
    [
      'what is no valid schema',
      { typeDefs: 'interface Named { title: String }\nextend type Account implements Named' },
      [/^typeDefs:1:19: Interface field Named.title expected but Account does not provide it/m],
    ],
    [
      'resolvers of what is not there',
      { typeDefs: 'extend type Order { a: Int }', resolvers: { Order: { b: () => 1 } } },
      [/^resolvers\.Order\.b: Order has no such field; define it in typeDefs, or remove this resolver/m],
    ],
    [
      'another kind of type',
      { typeDefs: 'extend input Order { a: Int }' },
      [/^typeDefs:1:1: Cannot extend non-input object type "Order"/m],
    ],
  ])('%s', async (_, further, messages) => {
    const error: unknown = await start(further).catch((failure: unknown) => failure)
    for (const message of messages) expect((error as Error).message).toMatch(message)
  })
})

describe('resolvers without typeDefs', () => {
  it('take the place of those of any source', async () => {
    const gateway = await start({
      grpc: {
        users: {
          protoText: { 'p.proto': PROTO },
          endpoint: grpc.address,
          expose: 'all',
          rename: { User: 'Account', 'User.fullName': 'name' },
        },
      },
      resolvers: {
        Query: { getUser: () => ({ id: '9', fullName: 'mine' }) },
        Account: { role: () => 'NONE' },
        Order: { total: ({ total }: { total: number }) => total + 1 },
      },
    })
    const query =
      '{ getUser(id: "1") { id name role } getUsers(ids: ["3"]) { users { name role } } order { customerId total } }'
    for (const _time of [1, 2, 3]) {
      expect(await ask(gateway, query)).toEqual({
        data: {
          getUser: { id: '9', name: 'mine', role: 'NONE' },
          getUsers: { users: [{ name: 'user 3', role: 'NONE' }] },
          order: { customerId: '7', total: 4 },
        },
      })
    }
  })

  it.each([
    [
      'a field that is not there',
      { Query: { gone: () => 1 } },
      /^resolvers\.Query\.gone: Query has no such field/,
    ],
    ['a type that is not there', { Gone: { a: () => 1 } }, /^resolvers\.Gone: the schema has no such type/],
    ['no function', { Query: { getUser: 'text' } }, /^resolvers: .*getUser/],
  ])('of %s stop the start', async (_, resolvers, message) => {
    await expect(start({ resolvers: resolvers as never })).rejects.toThrow(message)
  })
})

describe('a type of gRPC that only a RESOLVER method gives', () => {
  const proto = `syntax = "proto3"; package r; import "graphql.proto";
    service S {
      rpc GetUser(Id) returns (User) { option (graphql.schema) = { type: RESOLVER name: "user" }; }
      rpc GetTags(Id) returns (Tags) { option (graphql.schema) = { type: RESOLVER name: "tags" response { pluck: "tags" } }; }
      rpc Ping(Id) returns (Id) { option (graphql.schema).name = "ping"; }
    }
    message Id { string id = 1; } message User { string id = 1; string name = 2; repeated Tag of = 3; }
    message Tag { string text = 1; } message Tags { repeated Tag tags = 1; }`
  const users = { protoText: { 'r.proto': proto }, endpoint: '127.0.0.1:1' }

  it('is known to typeDefs, and can be added to', async () => {
    const gateway = await openGateway({
      grpc: { users },
      typeDefs:
        'type Query { me: User, tag: Tag } extend type User { nick: String } type Team { lead: User }',
      resolvers: {
        Query: { me: () => ({ id: '1', name: 'Ada' }) },
        User: { nick: ({ name }: { name: string }) => name.toLowerCase() },
      },
    })
    const { data, errors } = await ask(gateway, '{ me { name nick } }')
    expect([errors, data]).toEqual([undefined, { me: { name: 'Ada', nick: 'ada' } }])
    expect(printSchema(gateway.schema)).toContain('type Tag {')
  })

  it('is named as before, without a field of Query', async () => {
    const { schema } = await openGateway({ grpc: { users } })
    expect(Object.keys(schema.getQueryType()?.getFields() ?? {})).toEqual(['ping'])
    expect(schema.getType('Tags')).toBeUndefined()
  })
})
