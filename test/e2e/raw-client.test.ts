import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectRawWebSocket, createDisposables, startGrpcBackend } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { createGateway } from '../../apps/gateway/src/gateway.ts'
import { createLogger } from '../../apps/gateway/src/logging/logger.ts'
import { serve } from '../../apps/gateway/src/server.ts'
import { GRAPHQL_PROTO } from '../../packages/grpc-source/test/graphql-proto.ts'

// A proto and a client as others write them for the specification.
const PROTO = `syntax = "proto3"; package users; import "graphql.proto";
message User { string id = 1; string name = 2; }
message Empty {}
message UserList { repeated User users = 1; int32 total_count = 2; }
message NewUser { string name = 1; }
message Id { string id = 1; }
service UserService {
  rpc ListUsers(Empty) returns (UserList) {
    option (graphql.schema) = { type: QUERY name: "users" };
    option (graphql.live_query) = {
      enabled: true strategy: POLLING poll_interval_ms: 5000 throttle_ms: 500
      triggers: ["User.create", "User.update", "User.delete"]
    };
  }
  rpc CreateUser(NewUser) returns (User) { option (graphql.schema) = { type: MUTATION name: "createUser" }; }
  rpc DeleteUser(Id) returns (User) { option (graphql.schema) = { type: MUTATION name: "deleteUser" }; }
}`

async function start(throttleMs = 500) {
  const times = `poll_interval_ms: ${10 * throttleMs} throttle_ms: ${throttleMs}`
  const proto = PROTO.replace('poll_interval_ms: 5000 throttle_ms: 500', times)
  const opened = createDisposables(onTestFinished)
  const users = new Map([['1', 'Ann']])
  const backend = await startGrpcBackend({
    protos: { 'graphql.proto': GRAPHQL_PROTO, 'users.proto': proto },
    handlers: {
      'users.UserService/ListUsers': () => ({
        users: [...users].map(([id, name]) => ({ id, name })),
        totalCount: users.size,
      }),
      'users.UserService/CreateUser': ({ name }: { name: string }) => {
        const id = `${users.size + 1}`
        users.set(id, name)
        return { id, name }
      },
      'users.UserService/DeleteUser': ({ id }: { id: string }) => {
        const name = users.get(id) ?? ''
        users.delete(id)
        return { id, name }
      },
    },
  })
  opened.use(() => backend.stop())
  const baseDirectory = await mkdtemp(join(tmpdir(), 'vinyasa-raw-client-'))
  opened.use(() => rm(baseDirectory, { recursive: true }))
  await writeFile(join(baseDirectory, 'users.proto'), proto)
  const logger = await createLogger({ level: 'silent' })
  const grpc = {
    users: {
      endpoint: backend.address,
      protoFiles: ['users.proto'],
      fieldNames: 'proto' as const,
    },
  }
  const gateway = await createGateway({ grpc }, { baseDirectory, logger })
  const server = await serve(gateway, { port: 0 })
  opened.use(() => server.close({ graceMs: 100 }))
  const socket = opened.use(await connectRawWebSocket(`${server.url}/graphql/live`))
  socket.sendJson({ type: 'connection_init' })
  expect(await socket.nextJson()).toEqual({ type: 'connection_ack' })
  const query = 'query @live { users { users { id name } total_count } }'
  socket.sendJson({ id: '1', type: 'subscribe', payload: { query } })
  const mutate = async (mutation: string): Promise<void> => {
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: `mutation { ${mutation} { id } }` }),
    })
    expect(await response.json()).toEqual({ data: expect.anything() })
  }
  return { socket, mutate }
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

it('a field that is polled, too, is sent at each event: three updates in five seconds', async () => {
  const { socket, mutate } = await start()
  const began = Date.now()
  await wait(500)
  await mutate('createUser(name: "Bob")')
  await wait(2_000 - (Date.now() - began))
  await mutate('deleteUser(id: "1")')
  await wait(4_800 - (Date.now() - began))
  const updates = await socket.takeJson(3, 100)
  for (const { payload } of updates)
    expect(Math.abs(payload.timestamp * 1000 - Date.now())).toBeLessThan(10_000)
  expect(updates.map(({ payload }) => [payload.revision, payload.data.users])).toEqual([
    [1, { users: [{ id: '1', name: 'Ann' }], total_count: 1 }],
    [
      2,
      {
        users: [
          { id: '1', name: 'Ann' },
          { id: '2', name: 'Bob' },
        ],
        total_count: 2,
      },
    ],
    [3, { users: [{ id: '2', name: 'Bob' }], total_count: 1 }],
  ])
})

it('five mutations ten milliseconds apart are one update, which says that it is of several events', async () => {
  // A busy machine puts more than 10 ms between two of them, but not two seconds.
  const throttleMs = 2_000
  const { socket, mutate } = await start(throttleMs)
  await socket.nextJson()
  // The first of all takes longer, as it is compiled.
  await mutate('createUser(name: "First")')
  await socket.nextJson()
  const mutations: Promise<void>[] = []
  for (let index = 0; index < 5; index++) {
    mutations.push(mutate(`createUser(name: "N${index}")`))
    await wait(10)
  }
  await Promise.all(mutations)
  const { payload } = await socket.nextJson()
  expect(payload).toMatchObject({ revision: 3, batched: true, data: { users: { total_count: 7 } } })
  await socket.silence(throttleMs + 1_000)
})
