import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { GatewayConfig } from '../../apps/gateway/src/config/types.ts'
import { createGateway } from '../../apps/gateway/src/gateway.ts'
import { createLogger } from '../../apps/gateway/src/logging/logger.ts'
import { serve } from '../../apps/gateway/src/server.ts'

/** A gateway with cache, live queries and `@defer`, behind a network that can be cut. */
export interface World {
  /** `http://127.0.0.1:<port>/graphql` */
  readonly url: string
  readonly wsUrl: string
  /** Calls of resolvers of `Query` so far. */
  readonly reads: () => number
  /** Subscriptions that are being served. */
  readonly streams: () => number
  /** Renames the user, as another server might: nobody but the bus hears of it. */
  rename(name: string): Promise<void>
  /** Every open connection breaks. */
  cut(): void
  [Symbol.asyncDispose](): Promise<void>
}

/** What the gateway serves. */
export const typeDefs = /* GraphQL */ `
  type User {
    id: ID!
    name: String!
    bio: String
  }
  type Query {
    user(id: ID!): User
  }
  type Mutation {
    rename(id: ID!, name: String!): User
  }
  type Subscription {
    ticks: Int!
  }
`

/** `more` is added to the gateway's config. */
export async function startWorld(more: GatewayConfig = {}): Promise<World> {
  const user = { id: '1', name: 'Ada' }
  let reads = 0
  let streams = 0
  const read = (): typeof user => {
    reads++
    return { ...user }
  }
  const gateway = await createGateway(
    {
      typeDefs,
      resolvers: {
        Query: { user: read },
        User: {
          bio: () => new Promise((resolve) => setTimeout(resolve, 30, 'a long one')),
        },
        Mutation: { rename: (_: unknown, { name }: { name: string }) => Object.assign(user, { name }) },
        Subscription: {
          ticks: {
            subscribe: async function* () {
              streams++
              try {
                for (let n = 1; ; n++) {
                  yield { ticks: n }
                  await new Promise((resolve) => setTimeout(resolve, 10))
                }
              } finally {
                streams--
              }
            },
          },
        },
      },
      dependencies: { 'Query.user': { variesBy: [] }, 'User.bio': { variesBy: [] } },
      responseCache: true,
      defer: 'default',
      liveQuery: { defaults: { enabled: true, throttleMs: 0 } },
      ...more,
    },
    { baseDirectory: '/', logger: await createLogger({ level: 'silent' }) },
  )
  const server = await serve(gateway, { port: 0 })
  const network = await startNetwork(Number(new URL(server.url).port))
  return {
    url: `http://127.0.0.1:${network.port}/graphql`,
    wsUrl: `ws://127.0.0.1:${network.port}/graphql/live`,
    reads: () => reads,
    streams: () => streams,
    async rename(name) {
      user.name = name
      await gateway.bus.publish([{ entityType: 'User', operation: 'update', entityId: '1' }])
    },
    cut: network.cut,
    async [Symbol.asyncDispose]() {
      network.close()
      await server.close({ graceMs: 100 })
      await gateway.close()
    },
  }
}

async function startNetwork(target: number) {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      from.pipe(to)
      from
        .on('error', () => to.destroy())
        .on('close', () => {
          sockets.delete(from)
          to.destroy()
        })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    close() {
      server.close()
      cut()
    },
  }
}
