import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInvalidationBus, type InvalidationBus } from '@vinyasa/invalidation'
import { connectRawWebSocket, createFakeClock, type FakeClock, type RawWebSocket } from '@vinyasa/test-kit'
import {
  createSchema,
  createYoga,
  type Plugin,
  type YogaServerInstance,
  type YogaServerOptions,
} from 'graphql-yoga'
import { useLiveQuery, type LiveQueryPlugin, type UseLiveQueryOptions } from '../src/index.ts'
import { attachLiveServer, type LiveServer, type LiveServerOptions } from '../src/ws.ts'

export interface User {
  id: string
  name: string
  status: string
}

/** What the demo schema reads: tests change it, and count how often it was read. */
export interface World {
  users: User[]
  reads: number
  /** Awaited by `users` before it answers. */
  gate: Promise<unknown> | undefined
  failure: Error | undefined
  contexts: Record<string, any>[]
}

export interface LiveSetup {
  readonly url: string
  readonly wsUrl: string
  readonly world: World
  readonly bus: InvalidationBus
  readonly clock: FakeClock
  readonly plugin: LiveQueryPlugin
  readonly yoga: YogaServerInstance<any, any>
  readonly server: Server
  readonly live: LiveServer
  readonly errors: unknown[]
  connect(options?: Parameters<typeof connectRawWebSocket>[1]): Promise<RawWebSocket>
  /** Connected and acknowledged. */
  ready(payload?: Record<string, unknown>, headers?: Record<string, string>): Promise<RawWebSocket>
  changeUser(id: string, patch: Partial<User>): Promise<void>
  close(): Promise<void>
}

export interface LiveSetupOptions {
  readonly plugin?: UseLiveQueryOptions
  readonly ws?: Partial<LiveServerOptions>
  readonly yoga?: Partial<YogaServerOptions<any, any>>
  /** Plugins that come before it; those of `yoga` come after. */
  readonly before?: readonly Plugin[]
  /** The real clock instead of the fake one. */
  readonly realTime?: boolean
}

export const typeDefs = /* GraphQL */ `
  type User {
    id: ID!
    name: String!
    status: String!
  }
  type UserList {
    users: [User!]!
    totalCount: Int!
  }
  type Clock {
    time: Int!
  }
  type Query {
    users(status: String): UserList!
    user(id: ID!): User
    polled: User
    hashed: User
    expiring: User
    plain: String
    slow: User
  }
  type Mutation {
    rename(id: ID!, name: String!): User
  }
  type Subscription {
    countdown(from: Int!): Int!
  }
`

export async function startLive(options: LiveSetupOptions = {}): Promise<LiveSetup> {
  const clock = createFakeClock()
  const bus = createInvalidationBus()
  const errors: unknown[] = []
  const world: World = {
    users: [
      { id: '1', name: 'Ada', status: 'ONLINE' },
      { id: '2', name: 'Bob', status: 'AWAY' },
    ],
    reads: 0,
    gate: undefined,
    failure: undefined,
    contexts: [],
  }
  async function read<T>(context: Record<string, unknown>, value: () => T): Promise<T> {
    world.reads += 1
    world.contexts.push(context)
    await world.gate
    if (world.failure) throw world.failure
    return value()
  }
  const one = (id: string): User | undefined => structuredClone(world.users.find((user) => user.id === id))
  const schema = createSchema<Record<string, unknown>>({
    typeDefs,
    resolvers: {
      Query: {
        users: (_, { status }, context) =>
          read(context, () => {
            const users = structuredClone(world.users.filter((user) => !status || user.status === status))
            return { users, totalCount: users.length }
          }),
        user: (_, { id }, context) => read(context, () => one(id)),
        polled: (_, __, context) => read(context, () => one('1')),
        hashed: (_, __, context) => read(context, () => one('1')),
        expiring: (_, __, context) => read(context, () => one('1')),
        slow: (_, __, context) => read(context, () => one('1')),
        plain: () => 'plain',
      },
      Mutation: {
        rename: async (_, { id, name }) => {
          await changeUser(id, { name })
          return one(id)
        },
      },
      Subscription: {
        countdown: {
          subscribe: async function* (_: unknown, { from }: { from: number }) {
            for (let n = from; n >= 0; n--) yield { countdown: n }
          },
        },
      },
    },
  })
  async function changeUser(id: string, patch: Partial<User>): Promise<void> {
    Object.assign(
      world.users.find((user) => user.id === id)!,
      patch,
    )
    await bus.publish([{ entityType: 'User', operation: 'update', entityId: id }])
  }
  const time = options.realTime ? {} : { clock }
  const platform = { ...time, random: () => 0 }
  const plugin = useLiveQuery({
    bus,
    platform,
    onError: (error) => errors.push(error),
    fields: {
      users: {},
      user: {},
      slow: {},
      polled: { strategy: 'POLLING', pollIntervalMs: 1000 },
      hashed: { strategy: 'HASH_DIFF', pollIntervalMs: 1000 },
      expiring: { ttlSeconds: 60 },
    },
    ...options.plugin,
  })
  const yoga = createYoga({
    schema,
    logging: false,
    ...options.yoga,
    plugins: [...(options.before ?? []), plugin, ...(options.yoga?.plugins ?? [])],
  })
  const server = createServer((request, response) => void yoga(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const live = attachLiveServer(server, {
    plugin,
    ...options.ws,
  })
  const { port } = server.address() as AddressInfo
  const wsUrl = `ws://127.0.0.1:${port}/graphql/live`
  const sockets: RawWebSocket[] = []

  async function connect(wsOptions?: Parameters<typeof connectRawWebSocket>[1]): Promise<RawWebSocket> {
    const socket = await connectRawWebSocket(wsUrl, wsOptions)
    sockets.push(socket)
    return socket
  }
  return {
    url: `http://127.0.0.1:${port}/graphql`,
    wsUrl,
    world,
    bus,
    clock,
    plugin,
    yoga,
    server,
    live,
    errors,
    connect,
    async ready(payload, headers) {
      const socket = await connect(headers ? { headers } : undefined)
      socket.sendJson({ type: 'connection_init', ...(payload ? { payload } : {}) })
      const ack = await socket.nextJson()
      if (ack.type !== 'connection_ack')
        throw new Error(`Expected connection_ack, got ${JSON.stringify(ack)}`)
      return socket
    },
    changeUser,
    async close() {
      for (const socket of sockets) socket.terminate()
      await live.close()
      plugin.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      if (clock.pending() > 0) throw new Error(`${clock.pending()} timers were left running`)
    },
  }
}

export function subscribe(
  id: string,
  query: string,
  variables?: Record<string, unknown>,
): Record<string, unknown> {
  return { id, type: 'subscribe', payload: { query, ...(variables ? { variables } : {}) } }
}

export const USERS = 'query @live { users { users { id name status } totalCount } }'
