import { GraphQLObjectType, GraphQLSchema } from 'graphql'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openGateway } from './support/gateway.ts'

const PROTO = `syntax = "proto3"; package p;
service Users { rpc GetUser(Id) returns (User) { option idempotency_level = NO_SIDE_EFFECTS; } }
message Id { string id = 1; }
message User { string id = 1; string name = 2; }`

/** How often each type was made anew, as that begins with its config. */
function countCopies(): ReadonlyMap<string, number> {
  const copies = new Map<string, number>()
  const original = GraphQLObjectType.prototype.toConfig
  const spy = vi.spyOn(GraphQLObjectType.prototype, 'toConfig').mockImplementation(function (
    this: GraphQLObjectType,
  ) {
    copies.set(this.name, (copies.get(this.name) ?? 0) + 1)
    return original.call(this)
  })
  onTestFinished(() => spy.mockRestore())
  return copies
}

const SOURCES = {
  grpc: { users: { protoText: { 'p.proto': PROTO }, endpoint: '127.0.0.1:9', expose: 'all' as const } },
  rest: {
    shop: {
      baseUrl: 'http://127.0.0.1:9',
      endpoints: [
        {
          name: 'order',
          path: '/orders/{id}',
          args: { id: 'String!' },
          responseSchema: { typeName: 'Order', fields: { id: 'ID!' } },
        },
      ],
    },
  },
}

const OWN = { typeDefs: 'type Query { hello: String }', resolvers: { Query: { hello: () => 'world' } } }

it.each([
  ['of sources alone', SOURCES],
  ['of sources beside typeDefs', { ...SOURCES, ...OWN }],
])("a start makes types %s into the server's once", async (_, config) => {
  const copies = countCopies()
  const schemas = vi.spyOn(GraphQLSchema.prototype, 'toConfig')
  onTestFinished(() => schemas.mockRestore())
  const { schema } = await openGateway(config)
  const seen = { User: copies.get('User'), made: schemas.mock.calls.length }
  expect(seen).toEqual({ User: 1, made: 'typeDefs' in config ? 3 : 0 })
  expect(schema.getDirectives().map(({ name }) => name)).toEqual(
    expect.arrayContaining(['live', 'defer', 'stream']),
  )
})

it('directives that typeDefs define are theirs', async () => {
  const { schema } = await openGateway({
    typeDefs: 'directive @live(own: Int) on QUERY\ndirective @defer on FIELD\ntype Query { hello: String }',
  })
  expect(schema.getDirective('live')?.args.map(({ name }) => name)).toEqual(['own'])
  expect(schema.getDirective('defer')?.args).toEqual([])
  expect(schema.getDirective('stream')?.args.map(({ name }) => name)).toContain('initialCount')
})
