import { describe, expect, it } from 'vitest'
import { backend, run, source, yogaWith } from './harness.ts'

const PROTO = `
syntax = "proto3";
package f;
import "graphql.proto";
service S {
  rpc GetUser(GetUserRequest) returns (GetUserResponse) { option (graphql.schema) = { name: "user" response { pluck: "user" } }; }
  rpc BatchProducts(BatchRequest) returns (BatchResponse);
  rpc ListProducts(BatchRequest) returns (BatchResponse) { option (graphql.schema) = { name: "products" response { pluck: "products" } }; }
}
message GetUserRequest { string id = 1; }
message GetUserResponse { User user = 1; }
message BatchRequest { repeated string upcs = 1; }
message BatchResponse { repeated Product products = 1; }
message User {
  option (graphql.entity) = { keys: "id" resolvable: true };
  string id = 1 [(graphql.field).required = true];
  string name = 2 [(graphql.field).shareable = true];
}
message Product {
  option (graphql.entity) = { keys: "upc" };
  string upc = 1;
  int32 weight = 2 [(graphql.field).external = true];
  int32 shipping = 3 [(graphql.field).requires = "weight"];
  User maker = 4 [(graphql.field).provides = "name"];
}
`
const HANDLERS = {
  'f.S/GetUser': ({ id }: { id: string }) => ({ user: { id, name: `user ${id}` } }),
  'f.S/BatchProducts': ({ upcs }: { upcs: string[] }) => ({
    products: upcs
      .filter((upc) => upc !== '9')
      .toReversed()
      .map((upc) => ({ upc, shipping: 3 })),
  }),
}
const entities = {
  Product: {
    batch: { method: 'f.S.BatchProducts', keys: 'upcs', items: 'products', itemKey: 'upc', parentKey: 'upc' },
  },
}

describe('federation', () => {
  it('serves the SDL with its directives', async () => {
    const grpc = await source({ protoText: { 'f.proto': PROTO }, endpoint: 'x:1', federation: { entities } })
    const { data } = await run(yogaWith(grpc), '{ _service { sdl } }')
    expect(data._service.sdl).toMatchInlineSnapshot(`
      "extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@external", "@requires", "@provides", "@shareable"])

      schema {
        query: Query
      }

      type Query {
        user(id: String): User
        products(upcs: [String!]): [Product!]!
      }

      type User @key(fields: "id") {
        id: String!
        name: String @shareable
      }

      type Product @key(fields: "upc") {
        upc: String
        weight: Int @external
        shipping: Int @requires(fields: "weight")
        maker: User @provides(fields: "name")
      }"
    `)
  })

  it('resolves references, by the method that takes the key and in batches', async () => {
    const { address, calls } = await backend({ 'f.proto': PROTO }, HANDLERS)
    const yoga = yogaWith(
      await source({ protoText: { 'f.proto': PROTO }, endpoint: address, federation: { entities } }),
    )
    const { data, errors } = await run(
      yoga,
      'query ($r: [_Any!]!) { _entities(representations: $r) { __typename ... on User { name } ... on Product { shipping } } }',
      {
        variables: {
          r: [
            { __typename: 'Product', upc: '1' },
            { __typename: 'User', id: '7' },
            { __typename: 'Product', upc: '9' },
            { __typename: 'Product', upc: '2' },
            { __typename: 'Nope', id: '1' },
          ],
        },
      },
    )
    expect(data._entities).toEqual([
      { __typename: 'Product', shipping: 3 },
      { __typename: 'User', name: 'user 7' },
      null,
      { __typename: 'Product', shipping: 3 },
      null,
    ])
    expect(errors).toMatchObject([{ path: ['_entities', 4], extensions: { code: 'BAD_USER_INPUT' } }])
    expect(calls.map(({ method }) => method).sort()).toEqual(['f.S/BatchProducts', 'f.S/GetUser'])
  })

  it('shows no more than the beginning of a long type name', async () => {
    const grpc = await source({ protoText: { 'f.proto': PROTO }, endpoint: 'x:1', federation: { entities } })
    const refs = [{ __typename: 'x'.repeat(100_000) }]
    const query = 'query ($refs: [_Any!]!) { _entities(representations: $refs) { __typename } }'
    const { errors } = await run(yogaWith(grpc), query, { variables: { refs } })
    expect(errors).toHaveLength(1)
    expect(errors[0].message.length).toBeLessThan(250)
  })

  it('stops the start when an entity says it is resolvable and no method takes its key', async () => {
    const proto = PROTO.replace('GetUserRequest { string id', 'GetUserRequest { string name')
    await expect(
      source({ protoText: { 'f.proto': proto }, endpoint: 'x:1', federation: true }),
    ).rejects.toThrow('f.proto: f.User: is an entity, but this source cannot resolve it')
  })
})
