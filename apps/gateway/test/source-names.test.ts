import { startGrpcBackend, startRestBackend, type GrpcBackend, type RestBackend } from '@vinyasa/test-kit'
import { printSchema } from 'graphql'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { GatewayConfig } from '../src/config/types.ts'
import type { Gateway } from '../src/gateway.ts'
import { fetchFrom, openGateway } from './support/gateway.ts'

// Both kinds of sources have a `User`, and call much alike; what else a config says goes by the names that clients know.

const PROTO = `syntax = "proto3"; package p;
service Users {
  rpc GetUser(Id) returns (User) { option idempotency_level = NO_SIDE_EFFECTS; }
  rpc UpdateUser(User) returns (User);
  rpc Internal(Id) returns (User);
}
message Id { string id = 1; }
message User { string id = 1; string name = 2; string pet_id = 3; }`

let grpc: GrpcBackend
let rest: RestBackend
let name = 'Ada'
beforeAll(async () => {
  const user = (): object => ({ id: '1', name, petId: '7' })
  grpc = await startGrpcBackend({
    protos: PROTO,
    handlers: {
      'p.Users/GetUser': user,
      'p.Users/UpdateUser': (request) => {
        name = request.name
        return user()
      },
    },
  })
  rest = await startRestBackend(({ url, method, json }) => {
    if (method === 'PUT') name = json().name
    return { json: url.pathname === '/pets' ? [{ id: '7', name: 'Rex' }] : { id: '1', name } }
  })
})
afterAll(async () => {
  await grpc.stop()
  await rest.stop()
})

const fields = { id: 'id', name: 'string' } as const
function config(further: GatewayConfig = {}): GatewayConfig {
  return {
    grpc: {
      users: {
        protoText: { 'p.proto': PROTO },
        endpoint: grpc.address,
        expose: 'all',
        rename: {
          User: 'Account',
          'User.name': 'displayName',
          'Query.getUser': 'account',
          'Query.getUser(id:)': 'key',
          'Mutation.updateUser': 'updateAccount',
          'Mutation.updateUser(name:)': 'displayName',
        },
        hide: ['User.petId', 'Mutation.internal', 'Mutation.updateUser(petId:)'],
      },
    },
    rest: {
      shop: {
        baseUrl: rest.url,
        prefix: 'shop',
        endpoints: [
          { name: 'getUser', path: '/user', responseSchema: { typeName: 'User', fields } },
          { name: 'updateUser', method: 'PUT', path: '/user', args: { name: 'String' }, returnType: 'User' },
          {
            name: 'petsById',
            path: '/pets',
            args: { ids: '[ID!]!' },
            queryParams: { ids: '{ids}' },
            returnType: '[Pet!]',
            responseSchema: { typeName: 'Pet', fields },
            on: { type: 'Account', field: 'pet', args: { ids: '{petId}' }, batch: { key: 'id' } },
          },
        ],
      },
    },
    ...further,
  }
}

function start(further: GatewayConfig = {}): Promise<Gateway> {
  return openGateway(config(further))
}

async function ask(gateway: Gateway, query: string): Promise<any> {
  const response = await fetchFrom(gateway, query)
  return { ...((await response.json()) as object), cache: response.headers.get('x-cache') }
}

it('two sources that call everything alike stand together, joined by a field that is hidden', async () => {
  const gateway = await start()
  const sdl = printSchema(gateway.schema)
  expect(sdl).toContain('account(key: String): Account')
  expect(sdl).toContain('shopGetUser: ShopUser')
  expect(sdl).not.toContain('petId')
  expect(sdl).not.toContain('internal')
  const { data, errors } = await ask(
    gateway,
    '{ account(key: "1") { id displayName pet { name __typename } __typename } shopGetUser { name __typename } }',
  )
  expect(errors).toBeUndefined()
  expect(data).toEqual({
    account: {
      id: '1',
      displayName: name,
      pet: { name: 'Rex', __typename: 'ShopPet' },
      __typename: 'Account',
    },
    shopGetUser: { name, __typename: 'ShopUser' },
  })
  expect((await ask(gateway, '{ account(key: "1") { petId } }')).errors).toHaveLength(1)
})

it('cached answers go with the mutations of their own source', async () => {
  const gateway = await start({ responseCache: { session: () => 'one' } })
  const query = '{ account(key: "1") { id displayName } }'
  const other = '{ shopGetUser { id name } }'
  for (const one of [query, other]) await ask(gateway, one)
  expect((await ask(gateway, query)).cache).toBe('HIT')
  await ask(gateway, 'mutation { updateAccount(id: "1", displayName: "Bob") { id } }')
  const fresh = await ask(gateway, query)
  expect([fresh.cache, fresh.data.account.displayName]).toEqual(['MISS', 'Bob'])
  expect((await ask(gateway, other)).cache).toBe('HIT')
  await ask(gateway, 'mutation { shopUpdateUser(name: "Eve") { id } }')
  expect((await ask(gateway, other)).data.shopGetUser.name).toBe('Eve')
})

it('coordinates of the config are the names that clients know', async () => {
  const gateway = await start({
    access: { fields: { 'Account.displayName': { authenticated: true }, ShopUser: { authenticated: true } } },
    responseCache: { ttlMsBySchemaCoordinate: { 'Query.shopGetUser': 0 } },
    dependencies: { 'Account.displayName': { dependsOn: ['ShopUser'] } },
    auth: { jwt: { issuers: [{ issuer: 'https://id.example', audience: 'a', secret: 'x'.repeat(32) }] } },
  })
  const { data, errors } = await ask(gateway, '{ account(key: "1") { id displayName } shopGetUser { id } }')
  expect(data).toEqual({ account: { id: '1', displayName: null }, shopGetUser: null })
  expect(errors).toHaveLength(2)
})

it.each<[GatewayConfig, RegExp]>([
  [
    { access: { fields: { 'Account.dispayName': { authenticated: true } } } },
    /did you mean "Account.displayName"\?/,
  ],
  [
    { dependencies: { 'Query.acount': { dependsOn: [] } } },
    /dependencies\["Query.acount"\].*did you mean "Query.account"/,
  ],
  [
    { dependencies: { 'Query.account': { dependsOn: ['ShopUsr'] } } },
    /no type "ShopUsr"; did you mean "ShopUser"/,
  ],
  [
    { responseCache: { ttlMsBySchemaCoordinate: { 'Account.petIt': 1 } } },
    /ttlMsBySchemaCoordinate\["Account.petIt"\]: the schema has no/,
  ],
  [
    { liveQuery: { fields: { acount: { enabled: true } } } },
    /liveQuery\.fields\.acount.*did you mean "Query.account"/,
  ],
  [
    { rateLimit: { rules: [{ max: 1, windowSeconds: 1, fields: ['Mutation.updateAcount'] }] } },
    /did you mean "Mutation.updateAccount"/,
  ],
])('%j: one that is not there is told, with what is like it', async (further, message) => {
  await expect(start(further)).rejects.toThrow(message)
})

it('what is wrong with the names of several sources is told at once', async () => {
  const { grpc: users, rest: shop } = config()
  const wrong = start({
    grpc: { users: { ...users?.['users'], rename: { Usr: 'A', 'User.id': 'name' } } },
    rest: { shop: { ...(shop?.['shop'] as object), hide: ['Usr.*'] } },
  })
  await expect(wrong).rejects.toThrow(
    /grpc\.users: rename: "Usr" is not in the source; did you mean "User"\?\ngrpc\.users: User\.id and User\.name would have the same name "name" in User.*\nrest\.shop: .*hide: "Usr\.\*" is not in the source/s,
  )
})
