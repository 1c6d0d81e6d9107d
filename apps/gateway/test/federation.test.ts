import { startGrpcBackend, startRestBackend, type GrpcBackend, type RestBackend } from '@vinyasa/test-kit'
import { buildSchema } from 'graphql'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import type { Gateway } from '../src/gateway.ts'
import { ask, openGateway } from './support/gateway.ts'

const PROTO = `syntax = "proto3"; package p; import "graphql.proto";
service Users {
  rpc GetUser(Id) returns (User) { option (graphql.schema) = { type: QUERY name: "user" }; }
  rpc GetUsers(Ids) returns (UserList) { option (graphql.schema) = { type: QUERY name: "users" response { pluck: "users" } }; }
}
message Id { string id = 1; }
message Ids { repeated string ids = 1; }
message User { option (graphql.entity) = { keys: "id" }; string id = 1; string name = 2; string org = 3 [(graphql.field).shareable = true]; }
message UserList { repeated User users = 1; }`

let grpc: GrpcBackend
let rest: RestBackend
let asked: string[] = []
beforeAll(async () => {
  const user = (id: string): object => ({ id, name: `user ${id}`, org: 'o' })
  grpc = await startGrpcBackend({
    protos: {
      'graphql.proto': 'syntax = "proto3"; package graphql;',
      'p.proto': PROTO.replaceAll(
        /import "graphql.proto";| \{ option[^;]*; \}|option \(graphql[^;]*; | \[\(graphql[^\]]*\]/g,
        (found) => (found.startsWith(' {') ? ';' : ''),
      ),
    },
    handlers: {
      'p.Users/GetUser': ({ id }) => (asked.push(`user ${id}`), user(id)),
      'p.Users/GetUsers': ({ ids }) => (
        asked.push(`users ${ids.join()}`),
        { users: ids.toReversed().map(user) }
      ),
    },
  })
  rest = await startRestBackend(({ url }) => {
    asked.push(url.pathname + url.search)
    return { json: { 'order-no': url.pathname.slice(8), total: 3 } }
  })
})
afterAll(async () => {
  await grpc.stop()
  await rest.stop()
})
beforeEach(() => void (asked = []))

function start(further: GatewayConfig = {}, named: object = {}): Promise<Gateway> {
  return openGateway({
    grpc: { users: { protoText: { 'p.proto': PROTO }, endpoint: grpc.address, ...named } },
    rest: {
      shop: {
        baseUrl: rest.url,
        types: {
          Order: {
            kind: 'object',
            fields: { number: { type: 'ID', key: 'order-no' }, total: { type: 'Int' } },
          },
        },
        endpoints: [
          { name: 'order', path: '/orders/{number}', args: { number: 'ID!' }, returnType: 'Order' },
        ],
      },
    },
    federation: true,
    ...further,
  })
}

const ENTITIES = `query ($refs: [_Any!]!) { _entities(representations: $refs) {
  __typename ... on User { id name } ... on Order { number total } ... on Tag { word size } } }`

it('the SDL is all of it: gRPC, REST and typeDefs, with their keys, and no directive that is not of federation', async () => {
  const gateway = await start({
    federation: { entities: { Order: { key: 'number' } } },
    typeDefs: `
      extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])
      type Tag @key(fields: "word") { word: String! size: Int @authenticated }
      extend type Order { tags: [Tag!] @shareable }`,
  })
  const { data } = await ask(gateway, '{ _service { sdl } }')
  const { sdl } = data._service
  expect(sdl).toMatch(
    /^extend schema @link\(url: "https:\/\/specs.apollo.dev\/federation\/v2.3", import: \["@key", "@shareable"\]\)/,
  )
  expect(sdl).toMatch(/type User @key\(fields: "id"\) \{/)
  expect(sdl).toMatch(/org: String @shareable/)
  expect(sdl).toMatch(/type Order @key\(fields: "number"\) \{/)
  expect(sdl).toMatch(/tags: \[Tag!\] @shareable/)
  expect(sdl).toMatch(/type Tag @key\(fields: "word"\) \{/)
  expect(sdl).not.toMatch(/_entities|_service|_Any|@authenticated|directive|@live/)
  expect(() => buildSchema(sdl, { assumeValidSDL: true })).not.toThrow()
})

describe('references', () => {
  const entities = {
    User: { key: 'id', field: 'users', args: { ids: 'id' } },
    Order: { key: 'number' },
  }
  const typeDefs = 'type Tag @key(fields: "word") { word: String! size: Int }'
  const resolvers = { Tag: { size: ({ word }: { word: string }) => word.length } }

  it('of each type are resolved by one call where a field takes a list, in their order', async () => {
    const gateway = await start({ federation: { entities }, typeDefs, resolvers })
    const refs = [
      { __typename: 'User', id: '2' },
      { __typename: 'Order', number: '7' },
      { __typename: 'User', id: '1' },
      { __typename: 'Tag', word: 'four' },
      { __typename: 'User', id: '2' },
    ]
    const { data, errors } = await ask(gateway, ENTITIES, { refs })
    expect(errors).toBeUndefined()
    expect(data._entities).toEqual([
      { __typename: 'User', id: '2', name: 'user 2' },
      { __typename: 'Order', number: '7', total: 3 },
      { __typename: 'User', id: '1', name: 'user 1' },
      { __typename: 'Tag', word: 'four', size: 4 },
      { __typename: 'User', id: '2', name: 'user 2' },
    ])
    expect(asked.toSorted()).toEqual(['/orders/7', 'users 2,1'])
  })

  it('that are wrong are errors in their place, and the others are answered', async () => {
    const gateway = await start({
      federation: { entities: { Order: { key: 'number' } } },
      typeDefs,
      resolvers,
    })
    const refs = [
      { __typename: 'User', id: '1' },
      { __typename: 'User' },
      { __typename: 'Nobody', id: '1' },
      'text',
      { __typename: 'Order', number: { a: 1 } },
    ]
    const { data, errors } = await ask(gateway, ENTITIES, { refs })
    expect(data._entities).toEqual([{ __typename: 'User', id: '1', name: 'user 1' }, null, null, null, null])
    expect(errors.map(({ path }: { path: unknown }) => path)).toEqual(
      [1, 2, 3, 4].map((at) => ['_entities', at]),
    )
    for (const { extensions } of errors) expect(extensions.code).toBe('BAD_USER_INPUT')
  })

  // GraphQL's ID takes texts and whole numbers.
  it.each([
    ['lacks its key', {}, 'must have a value for the key "id"'],
    ['has null for a key', { id: null }, 'must have a value for the key "id"'],
    ['has an object for a key', { id: { a: 1 } }, 'is not valid for Query.users(ids:)'],
    ['has a list for a key', { id: ['1', '2'] }, 'is not valid for Query.users(ids:)'],
    ['has a fraction for a key', { id: 1.5 }, 'is not valid for Query.users(ids:)'],
    [
      'has a long key that is none',
      { id: { long: 'x'.repeat(100_000) } },
      'is not valid for Query.users(ids:)',
    ],
  ])(
    'of a field that takes a list: one that %s leaves the others as they are',
    async (_what, bad, message) => {
      const gateway = await start({ federation: { entities }, typeDefs, resolvers })
      const good = ['1', '2'].map((id) => ({ __typename: 'User', id }))
      for (const at of [0, 1, 2]) {
        asked = []
        const refs = good.toSpliced(at, 0, { __typename: 'User', ...bad } as never)
        const { data, errors } = await ask(gateway, ENTITIES, { refs })
        const names = ['user 1', 'user 2'].map((name, index) => ({
          __typename: 'User',
          id: `${index + 1}`,
          name,
        }))
        expect(data._entities).toEqual(names.toSpliced(at, 0, null as never))
        expect(errors).toHaveLength(1)
        expect(errors[0]).toMatchObject({ path: ['_entities', at], extensions: { code: 'BAD_USER_INPUT' } })
        expect(errors[0].message).toContain(message)
        expect(errors[0].message.length).toBeLessThan(250)
        expect(asked).toEqual(['users 1,2'])
      }
    },
  )

  it('of a field that takes a list, none of which is right, ask nobody', async () => {
    const gateway = await start({ federation: { entities }, typeDefs, resolvers })
    const refs = [{ __typename: 'User' }, { __typename: 'User', id: {} }]
    const { data, errors } = await ask(gateway, ENTITIES, { refs })
    expect([data._entities, errors.length, asked]).toEqual([[null, null], 2, []])
  })

  it('show no more than the beginning of a long type name', async () => {
    const gateway = await start({ typeDefs, resolvers })
    const refs = Array.from({ length: 3 }, () => ({ __typename: 'x'.repeat(100_000) }))
    const { errors } = await ask(
      gateway,
      'query ($refs: [_Any!]!) { _entities(representations: $refs) { __typename } }',
      { refs },
    )
    expect(errors).toHaveLength(3)
    for (const { message } of errors) expect(message.length).toBeLessThan(250)
  })

  it.each([
    [undefined, 1_000],
    [3, 3],
    [0, 0],
  ])('are refused, all of them, with more than maxReferences (%s)', async (maxReferences, most) => {
    const gateway = await start({ federation: { maxReferences }, typeDefs, resolvers })
    const refs = (length: number): object[] =>
      Array.from({ length }, () => ({ __typename: 'Tag', word: 'w' }))
    const allowed = await ask(gateway, ENTITIES.replace(/\.\.\. on Order \{[^}]*\}/, ''), {
      refs: refs(most),
    })
    expect([allowed.errors, allowed.data._entities.length]).toEqual([undefined, most])
    const refused = await ask(gateway, ENTITIES.replace(/\.\.\. on Order \{[^}]*\}/, ''), {
      refs: refs(most + 1),
    })
    expect(refused.errors).toEqual([
      expect.objectContaining({
        message: `_entities received ${most + 1} references, but the limit is ${most}; send fewer references`,
        extensions: { code: 'BAD_USER_INPUT' },
      }),
    ])
  })

  it.each([
    ['the gateway', true],
    ['a gRPC source', false],
  ])('cost as many as they are, of %s', async (_whose, isOwn) => {
    const gateway = await start({ federation: isOwn, cost: { max: 50 } }, isOwn ? {} : { federation: true })
    const query = 'query ($refs: [_Any!]!) { _entities(representations: $refs) { __typename } }'
    const isAnswered = async (length: number): Promise<boolean> => {
      const refs = Array.from({ length }, () => ({ __typename: 'User', id: '1' }))
      return (await ask(gateway, query, { refs })).errors === undefined
    }
    expect([await isAnswered(1), await isAnswered(45), await isAnswered(55)]).toEqual([true, true, false])
  })

  it('to types under other names, with keys under other names', async () => {
    const names = {
      rename: { User: 'Account', 'User.id': 'key', 'Query.user': 'account', 'Query.user(id:)': 'key' },
    }
    const gateway = await start({}, names)
    const { data } = await ask(gateway, '{ _service { sdl } }')
    expect(data._service.sdl).toMatch(/type Account @key\(fields: "key"\)/)
    const found = await ask(
      gateway,
      'query ($refs: [_Any!]!) { _entities(representations: $refs) { ... on Account { key name } } }',
      {
        refs: [{ __typename: 'Account', key: '5' }],
      },
    )
    expect(found.data._entities).toEqual([{ key: '5', name: 'user 5' }])
  })

  it('are resolved by __resolveReference where resolvers have it', async () => {
    const gateway = await start({
      typeDefs,
      resolvers: {
        Tag: { ...resolvers.Tag, __resolveReference: ({ word }: { word: string }) => ({ word: `${word}!` }) },
      },
    })
    const { data } = await ask(gateway, ENTITIES.replace(/\.\.\. on Order \{[^}]*\}/, ''), {
      refs: [{ __typename: 'Tag', word: 'a' }],
    })
    expect(data._entities).toEqual([{ __typename: 'Tag', word: 'a!', size: 2 }])
  })
})

it.each<[GatewayConfig, RegExp]>([
  [
    { federation: { entities: { Ordr: { key: 'number' } } } },
    /federation\.entities\.Ordr: .*did you mean "Order"/,
  ],
  [
    { federation: { entities: { Order: { key: 'no' } } } },
    /the key "no" selects Order.no, which is not in the schema/,
  ],
  [{ federation: { entities: { Order: { key: 'number {' } } } }, /is not a valid field selection/],
  [
    { federation: { entities: { Order: { key: 'total' } } } },
    /no field of Query takes total without other required arguments and returns Order.*field \(to false/,
  ],
  [
    { federation: { entities: { Order: { key: 'number', field: 'ordr' } } } },
    /no field "ordr"; did you mean "order"/,
  ],
  [
    { federation: { entities: { Order: { key: 'number', field: 'user' } } } },
    /Query.user returns User, not Order/,
  ],
  [
    { federation: { entities: { User: { key: 'id', field: 'users' } } } },
    /Query.users has no argument "id", only ids; set args/,
  ],
  [
    { federation: { entities: { User: { key: 'id name', field: 'users', args: { ids: 'id' } } } } },
    /Query.users returns a list, so the first key must be one field without subfields, got "id name"; choose a field that returns one User/,
  ],
  [
    {
      federation: { entities: { Place: { key: 'org { id }', field: 'places', args: { orgs: 'org' } } } },
      typeDefs:
        'type Org { id: ID! } type Place { org: Org! } input OrgKey { id: ID! } extend type Query { places(orgs: [OrgKey!]): [Place] }',
    },
    /Query.places returns a list, .* got "org \{ id \}"/,
  ],
  [
    {
      federation: { entities: { Place: { key: 'id', field: 'places' } } },
      typeDefs: 'type Place { id: ID! } extend type Query { places(id: ID): [Place] }',
    },
    /Query.places returns a list, but Query.places\(id:\) takes ID instead of a list; set args to an argument that takes all keys/,
  ],
  [
    {
      federation: { entities: { Place: { key: 'id', field: 'places', args: {} } } },
      typeDefs: 'type Place { id: ID! } extend type Query { places(ids: [ID]): [Place] }',
    },
    /Query.places returns a list, so args must set only the argument that takes all keys/,
  ],
  [
    { federation: { entities: { User: { key: 'id', field: 'user', itemKey: 'id' } } } },
    /itemKey requires a field that returns a list, but Query.user returns one User/,
  ],
  [
    {
      access: { fields: { 'Query.user': { authenticated: true } } },
      auth: { jwt: { issuers: [{ issuer: 'https://id.example', audience: 'a', secret: 'x'.repeat(32) }] } },
    },
    /references to User are resolved by Query.user, but the access rule of Query.user does not apply to Query._entities/,
  ],
])('%j is a mistake', async (further, message) => {
  await expect(start(further)).rejects.toThrow(message)
})
