import {
  type handleUnaryCall,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  status,
} from '@grpc/grpc-js'
import { rpcError } from './errors.ts'
import type { User, UserEvent, UserServiceServer, WatchUsersRequest } from './gen/demo/users/v1/users.ts'
import { UserStatus } from './gen/demo/users/v1/users.ts'
import { profileOf } from './seed.ts'
import type { UserStore } from './user-store.ts'

/** Events that wait for a watcher who reads slowly; one more ends the watching. */
const MAX_WAITING_EVENTS = 1_000

export interface UserServiceOptions {
  readonly store: UserStore
  /** How long profiles take. Default 300. */
  readonly profileDelayMs?: number | undefined
}

export interface UserService {
  readonly implementation: UserServiceServer
  /** Ends every open stream with UNAVAILABLE, so that the server can stop. */
  endStreams(): void
}

export function createUserService({ store, profileDelayMs = 300 }: UserServiceOptions): UserService {
  const startedAt = performance.now()
  const streams = new Set<ServerWritableStream<WatchUsersRequest, UserEvent>>()
  let rpcCount = 0n

  function unary<Request, Response>(
    answer: (request: Request, call: ServerUnaryCall<Request, Response>) => Response | Promise<Response>,
  ): handleUnaryCall<Request, Response> {
    return (call, callback) => {
      rpcCount++
      void respond(() => answer(call.request, call), callback)
    }
  }

  function existing(id: string): User {
    const user = store.get(id)
    if (!user) throw rpcError(status.NOT_FOUND, `There is no user "${id}"`)
    return user
  }

  function found(ids: readonly string[]): User[] {
    return [...new Set(ids)].flatMap((id) => store.get(id) ?? [])
  }

  const implementation: UserServiceServer = {
    listUsers: unary(({ status: wanted, limit }) => {
      if (limit < 0) throw rpcError(status.INVALID_ARGUMENT, 'limit must not be negative')
      const users = store.list(wanted)
      return { users: limit > 0 ? users.slice(0, limit) : users, totalCount: users.length }
    }),
    getUser: unary(({ id }) => existing(id)),
    batchGetUsers: unary(({ ids }) => ({ users: found(ids) })),
    getUserProfile: unary(async ({ userId }, call) => {
      const user = existing(userId)
      await delay(profileDelayMs, call)
      return profileOf(user)
    }),
    batchGetUserProfiles: unary(async ({ userIds }, call) => {
      await delay(profileDelayMs, call)
      return { profiles: found(userIds).map(profileOf) }
    }),
    createUser: unary((request) => store.create(request)),
    updateUser: unary(({ id, ...changes }) => store.update(id, changes)),
    deleteUser: unary(({ id }) => store.delete(id)),
    getServerStats: unary(() => ({
      uptimeSeconds: (performance.now() - startedAt) / 1_000,
      rpcCount,
      memoryBytes: BigInt(process.memoryUsage.rss()),
      userCount: store.list().length,
    })),
    getOnlineCount: unary(() => ({ count: store.list(UserStatus.ONLINE).length })),
    watchUsers(call) {
      rpcCount++
      streams.add(call)
      const end = store.watch((event) => {
        if (call.writableLength < MAX_WAITING_EVENTS) call.write(event)
        else call.emit('error', rpcError(status.RESOURCE_EXHAUSTED, 'Events are read too slowly'))
      })
      const forget = (): void => {
        end()
        streams.delete(call)
      }
      call.on('cancelled', forget)
      call.on('error', forget)
      call.on('close', forget)
    },
  }

  return {
    implementation,
    endStreams() {
      for (const call of streams) call.emit('error', rpcError(status.UNAVAILABLE, 'The service is stopping'))
    },
  }
}

async function respond<Response>(
  answer: () => Response | Promise<Response>,
  callback: sendUnaryData<Response>,
): Promise<void> {
  try {
    callback(null, await answer())
  } catch (error) {
    callback(error as Error)
  }
}

/** Ends early when the caller leaves. */
function delay(ms: number, call: { once(event: 'cancelled', listener: () => void): unknown }): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    call.once('cancelled', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
