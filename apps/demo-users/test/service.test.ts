import { credentials, status } from '@grpc/grpc-js'
import { createDisposables, waitUntil } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type UserEvent,
  UserEventKind,
  UserServiceClient,
  UserServiceService,
  UserStatus,
} from '../src/gen/demo/users/v1/users.ts'
import { startUsersServer, type UsersServer } from '../src/server.ts'

const disposables = createDisposables(afterAll)
let server: UsersServer
let client: UserServiceClient

beforeAll(async () => {
  server = disposables.use(await startUsersServer({ host: '127.0.0.1', port: 0, profileDelayMs: 50 }))
  client = disposables.use(new UserServiceClient(`127.0.0.1:${server.port}`, credentials.createInsecure()))
})

const rpc = UserServiceService

interface Unary<Request, Response> {
  readonly path: string
  readonly requestSerialize: (request: Request) => Buffer
  readonly responseDeserialize: (bytes: Buffer) => Response
}

function call<Request, Response>(method: Unary<Request, Response>, request: Request): Promise<Response> {
  const { path, requestSerialize, responseDeserialize } = method
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, response) =>
      error ? reject(error) : resolve(response as Response),
    )
  })
}

const refusal = (code: status) => expect.objectContaining({ code })

describe('UserService', () => {
  it('lists users "1" to "100", the same at every start, filtered by status', async () => {
    const { users, totalCount } = await call(rpc.listUsers, { status: 0, limit: 0 })
    expect([totalCount, users[0], users[99]?.id]).toEqual([
      100,
      {
        id: '1',
        name: 'Ada Ahlberg',
        email: 'ada.ahlberg@example.com',
        status: UserStatus.ONLINE,
        createdAt: new Date('2024-01-01'),
      },
      '100',
    ])
    expect(new Set(users.map(({ email }) => email)).size).toBe(100)
    const online = await call(rpc.listUsers, { status: UserStatus.ONLINE, limit: 2 })
    expect(online.users.map(({ id, status }) => [id, status])).toEqual([
      ['1', UserStatus.ONLINE],
      ['3', UserStatus.ONLINE],
    ])
    expect(online.totalCount).toBe(50)
    expect(await call(rpc.getOnlineCount, {})).toEqual({ count: 50 })
  })

  it('creates, updates and deletes, and tells watchers', async () => {
    const events: UserEvent[] = []
    const watching = client.watchUsers({})
    watching.on('data', (event: UserEvent) => events.push(event)).on('error', () => {})
    const { rpcCount } = await call(rpc.getServerStats, {})
    expect(rpcCount).toBeGreaterThan(0n)

    const user = await call(rpc.createUser, { name: 'New', email: 'new@example.com', status: 0 })
    expect(user).toMatchObject({ name: 'New', status: UserStatus.OFFLINE })
    const renamed = await call(rpc.updateUser, { id: user.id, name: 'Newer' })
    expect(renamed).toEqual({ ...user, name: 'Newer' })
    expect(await call(rpc.getUser, { id: user.id })).toEqual(renamed)
    expect(await call(rpc.deleteUser, { id: user.id })).toEqual(renamed)
    await expect(call(rpc.getUser, { id: user.id })).rejects.toEqual(refusal(status.NOT_FOUND))

    await waitUntil(() => events.length === 3)
    expect(events.map(({ kind, user }) => [kind, user?.name])).toEqual([
      [UserEventKind.CREATED, 'New'],
      [UserEventKind.UPDATED, 'Newer'],
      [UserEventKind.DELETED, 'Newer'],
    ])
    watching.cancel()
  })

  it('refuses what is wrong with a status that says so', async () => {
    const taken = { name: 'X', email: 'ada.ahlberg@example.com', status: 0 } as const
    await expect(call(rpc.createUser, taken)).rejects.toEqual(refusal(status.ALREADY_EXISTS))
    await expect(call(rpc.createUser, { ...taken, name: ' ' })).rejects.toEqual(
      refusal(status.INVALID_ARGUMENT),
    )
    await expect(call(rpc.createUser, { ...taken, email: 'x' })).rejects.toEqual(
      refusal(status.INVALID_ARGUMENT),
    )
    await expect(call(rpc.updateUser, { id: 'x' })).rejects.toEqual(refusal(status.NOT_FOUND))
    await expect(call(rpc.listUsers, { status: 0, limit: -1 })).rejects.toEqual(
      refusal(status.INVALID_ARGUMENT),
    )
  })

  it('answers batches without the ids that do not exist, profiles after their delay', async () => {
    const { users } = await call(rpc.batchGetUsers, { ids: ['7', 'x', '3', '7'] })
    expect(users.map(({ id }) => id).sort()).toEqual(['3', '7'])
    const before = performance.now()
    const { profiles } = await call(rpc.batchGetUserProfiles, { userIds: ['1', '2', 'x'] })
    expect(performance.now() - before).toBeGreaterThanOrEqual(45)
    expect(profiles.map(({ userId }) => userId)).toEqual(['1', '2'])
    expect(await call(rpc.getUserProfile, { userId: '1' })).toEqual(profiles[0])
    expect(profiles[0]).toMatchObject({ bio: 'Ada Ahlberg likes climbing and gardening.', location: 'Lagos' })
  })
})
