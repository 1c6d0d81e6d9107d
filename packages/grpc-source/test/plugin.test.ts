import { createInvalidationBus, type InvalidationEvent } from '@vinyasa/invalidation'
import {
  createDisposables,
  grpcError,
  startGrpcBackend,
  type GrpcBackend,
  type GrpcHandler,
} from '@vinyasa/test-kit'
import { buildSchema, printSchema } from 'graphql'
import { createSchema, createYoga, type YogaServerInstance } from 'graphql-yoga'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createGrpcSource, useGrpcSource, type GrpcSourceOptions } from '../src/index.ts'
import { GRAPHQL_PROTO } from './graphql-proto.ts'
import { USERS_PROTO } from './users-proto.ts'

const ADA = {
  id: '1',
  name: 'Ada',
  status: 'USER_STATUS_ONLINE',
  accountNumber: '9007199254740993',
  tags: ['x', 'y'],
  address: { city: 'London' },
  createdAt: { seconds: '1700000000', nanos: 5_000_000 },
}

const HANDLERS: Record<string, GrpcHandler> = {
  'demo.users.v1.UserService/GetUser': ({ id }) => {
    if (id !== '1') throw grpcError(5, `no user ${id}`)
    return ADA
  },
  'demo.users.v1.UserService/ListUsers': ({ limit }) => ({ users: [ADA], totalCount: limit }),
  'demo.users.v1.UserService/CreateUser': (request) => ({ ...request, id: '2' }),
  'demo.users.v1.UserService/DeleteUser': () => ({ success: true }),
}

async function backend(handlers: Record<string, GrpcHandler> = {}): Promise<GrpcBackend> {
  const disposables = createDisposables(onTestFinished)
  return disposables.use(
    await startGrpcBackend({
      protos: { 'users.proto': USERS_PROTO, 'graphql.proto': GRAPHQL_PROTO },
      handlers: { ...HANDLERS, ...handlers },
    }),
  )
}

async function server(
  endpoint: string,
  options: Partial<GrpcSourceOptions> = {},
  yogaOptions: Parameters<typeof createYoga>[0] = {},
): Promise<YogaServerInstance<object, object>> {
  const source = await createGrpcSource({
    name: 'users',
    protoText: { 'users.proto': USERS_PROTO },
    endpoint,
    ...options,
  })
  onTestFinished(() => source.close())
  return createYoga({
    logging: false,
    ...yogaOptions,
    plugins: [useGrpcSource(source), ...(yogaOptions.plugins ?? [])],
  })
}

async function run(
  yoga: YogaServerInstance<object, object>,
  query: string,
  variables?: object,
): Promise<any> {
  const response = await yoga.fetch('http://test/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  })
  return response.json()
}

describe('useGrpcSource', () => {
  it('answers queries and mutations of annotated methods on a server without a schema', async () => {
    const { address } = await backend()
    const yoga = await server(address)
    expect(
      await run(
        yoga,
        '{ user(id: "1") { id name status accountNumber tags address { city } createdAt } users { totalCount users { id } } }',
      ),
    ).toEqual({
      data: {
        user: { ...ADA, createdAt: '2023-11-14T22:13:20.005Z' },
        users: { totalCount: 10, users: [{ id: '1' }] },
      },
    })
    expect(
      await run(
        yoga,
        'mutation { createUser(input: { name: "Bo", address: { city: "Bern" } }) { id name address { city } createdAt } }',
      ),
    ).toEqual({
      data: { createUser: { id: '2', name: 'Bo', address: { city: 'Bern' }, createdAt: null } },
    })
  })

  it('keeps the fields of a schema that the server has', async () => {
    const { address } = await backend()
    const schema = createSchema({
      typeDefs: 'type Query { hello: String! }',
      resolvers: { Query: { hello: () => 'world' } },
    })
    const yoga = await server(address, {}, { schema })
    expect(await run(yoga, '{ hello user(id: "1") { name } }')).toEqual({
      data: { hello: 'world', user: { name: 'Ada' } },
    })
  })

  it('works with a schema that is a promise, and one that is made for each request', async () => {
    const { address } = await backend()
    const make = (): any =>
      createSchema({
        typeDefs: 'type Query { hello: String! }',
        resolvers: { Query: { hello: () => 'world' } },
      })
    const fixed = make()
    for (const schema of [Promise.resolve(make()), () => Promise.resolve(fixed)]) {
      const yoga = await server(address, {}, { schema })
      for (let round = 0; round < 2; round++) {
        expect(await run(yoga, '{ hello user(id: "1") { name } }')).toEqual({
          data: { hello: 'world', user: { name: 'Ada' } },
        })
      }
    }
  })

  it('stands beside a second source, with and without a schema of the server, in either order', async () => {
    const { address } = await backend()
    const first = await createGrpcSource({
      name: 'users',
      protoText: { 'users.proto': USERS_PROTO },
      endpoint: address,
    })
    const second = await createGrpcSource({
      name: 'other',
      protoText: {
        'other.proto':
          'syntax="proto3"; package o; import "graphql.proto"; service S { rpc Ping(P) returns (P) { option (graphql.schema).name = "ping"; } } message P { string text = 1; }',
      },
      endpoint: address,
    })
    for (const sources of [
      [first, second],
      [second, first],
    ]) {
      for (const schema of [undefined, buildSchema('type Query { hello: String }')]) {
        const yoga = createYoga({
          logging: false,
          ...(schema ? { schema } : {}),
          plugins: sources.map(useGrpcSource),
        })
        const result = await run(yoga, '{ user(id: "1") { name } ping(text: "x") { text } }')
        expect(result.data.user).toEqual({ name: 'Ada' })
        expect(result.errors[0].extensions.code).toBe('NOT_IMPLEMENTED')
      }
    }
    await first.close()
    await second.close()
  })

  it('stops the start when a field is there already, naming both origins', async () => {
    const schema = createSchema({ typeDefs: 'type Query { user: String }' })
    await expect(server('127.0.0.1:1', {}, { schema })).rejects.toThrow(
      `field Query.user is defined twice, by the server's own schema and by grpc source "users": demo.users.v1.UserService.GetUser (users.proto)`,
    )
  })

  it('maps the status to a code, with a message of its own', async () => {
    const { address } = await backend()
    const yoga = await server(address)
    expect(await run(yoga, '{ user(id: "7") { name } }')).toMatchObject({
      data: { user: null },
      errors: [
        {
          message: 'The service did not find the requested entity',
          path: ['user'],
          extensions: { code: 'NOT_FOUND', grpc: { status: 'NOT_FOUND' } },
        },
      ],
    })
  })

  it('sends the deadline and answers TIMEOUT when it passes', async () => {
    const { address, calls } = await backend({
      'demo.users.v1.UserService/GetUser': () => new Promise(() => {}),
    })
    const yoga = await server(address, { timeoutMs: 200 })
    const result = await run(yoga, '{ user(id: "1") { name } }')
    expect(result.errors[0].extensions.code).toBe('TIMEOUT')
    expect(calls[0]?.timeLeftMs).toBeLessThanOrEqual(200)
  })

  it('publishes what a mutation changed before it answers', async () => {
    const { address } = await backend()
    const bus = createInvalidationBus()
    const events: InvalidationEvent[] = []
    bus.subscribe((batch) => void events.push(...batch))
    const yoga = await server(address, { bus })
    await run(yoga, 'mutation { createUser(input: { name: "Bo" }) { id } deleteUser(id: "9") { success } }')
    expect(events).toEqual([
      { entityType: 'User', operation: 'create', entityId: '2' },
      // `{ success }` does not say what was deleted; its name is a hint, no statement.
      { entityType: '*', operation: '*' },
      { entityType: 'User', operation: 'delete', entityId: '9' },
    ])
  })

  it.each([
    ['broke off', 14, 'SERVICE_UNAVAILABLE'],
    ['ran out of time', 4, 'TIMEOUT'],
    ['failed inside the service', 13, 'INTERNAL_SERVER_ERROR'],
  ])('publishes what a mutation may have changed that %s', async (_, status, code) => {
    const { address } = await backend({
      'demo.users.v1.UserService/DeleteUser': () => Promise.reject(grpcError(status, 'who knows')),
    })
    const bus = createInvalidationBus()
    const events: InvalidationEvent[] = []
    bus.subscribe((batch) => void events.push(...batch))
    const yoga = await server(address, { bus })
    const result = await run(yoga, 'mutation { deleteUser(id: "9") { success } }')
    expect(result.errors[0].extensions.code).toBe(code)
    expect(events).toEqual([
      { entityType: '*', operation: '*' },
      { entityType: 'User', operation: 'delete', entityId: '9' },
    ])
  })

  it('publishes nothing when the service refuses the mutation', async () => {
    const { address } = await backend({
      'demo.users.v1.UserService/CreateUser': () => Promise.reject(grpcError(6, 'exists')),
    })
    const bus = createInvalidationBus()
    let published = 0
    bus.subscribe(() => void published++)
    const yoga = await server(address, { bus })
    const result = await run(yoga, 'mutation { createUser(input: { name: "Bo" }) { id } }')
    expect(result.errors[0].extensions.code).toBe('CONFLICT')
    expect(published).toBe(0)
  })

  it('writes live options and origins into field extensions', async () => {
    const source = await createGrpcSource({
      name: 'users',
      protoText: { 'users.proto': USERS_PROTO },
      endpoint: 'localhost:1',
    })
    const fields = source.schema.getQueryType()?.getFields()
    expect(fields?.['user']?.extensions['origin']).toBe(
      'grpc source "users": demo.users.v1.UserService.GetUser (users.proto)',
    )
    expect(fields?.['user']?.extensions['liveQuery']).toEqual({ enabled: true })
    expect(fields?.['users']?.extensions['liveQuery']).toEqual({
      enabled: true,
      throttleMs: 100,
      triggers: ['User.create', 'User.update'],
    })
    await source.close()
  })

  it('prints the schema of the protos, with comments and defaults', async () => {
    const source = await createGrpcSource({
      name: 'users',
      protoText: { 'users.proto': USERS_PROTO },
      endpoint: 'localhost:1',
    })
    expect(printSchema(source.schema)).toMatchSnapshot()
    await source.close()
  })
})
