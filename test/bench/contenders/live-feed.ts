import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSchema } from 'graphql-yoga'

/** What the benchmark asks of a contender. */
export type LiveCommand =
  | { readonly type: 'event'; readonly n: number }
  | { readonly type: 'usage' }
  /** The same after a garbage collection, which is not to be counted as work. */
  | { readonly type: 'memory' }

export interface LiveUsage {
  readonly cpuMicros: number
  readonly rssBytes: number
  readonly executions: number
}

/** The feed that all contenders serve: event number, time of the event, and a payload of about so many bytes. */
export interface LiveFeed {
  readonly query: string
  read(): { readonly n: number; readonly at: number; readonly items: readonly object[] }
  /** Serves, announces itself, and calls `onEvent` for each event. */
  serve(server: Server, onEvent: () => void): void
}

export function createLiveFeed(): LiveFeed {
  const bytes = Number(process.env['LIVE_PAYLOAD_BYTES'] ?? 1000)
  const items = Array.from({ length: Math.max(1, Math.round(bytes / 50)) }, (_, index) => ({
    id: String(100 + index),
    name: `the item number ${index % 100}`,
  }))
  let current = { n: 0, at: 0 }
  let executions = 0

  return {
    query: 'query ($key: Int) @live { feed(key: $key) { n at items { id name } } }',
    read() {
      executions += 1
      return { ...current, items }
    },
    serve(server, onEvent) {
      process.on('message', (command: LiveCommand) => {
        if (command.type === 'event') {
          current = { n: command.n, at: performance.timeOrigin + performance.now() }
          return onEvent()
        }
        const { user, system } = process.cpuUsage()
        if (command.type === 'memory') globalThis.gc?.()
        const usage: LiveUsage = { cpuMicros: user + system, rssBytes: process.memoryUsage.rss(), executions }
        process.send?.(usage)
      })
      process.on('disconnect', () => process.exit(0))
      server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
        process.send?.({ url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/graphql/live` })
      })
    },
  }
}

export function feedSchema(feed: LiveFeed): ReturnType<typeof createSchema> {
  return createSchema({
    typeDefs: /* GraphQL */ `
      directive @live(if: Boolean! = true, throttle: Int) on QUERY
      type Item {
        id: ID!
        name: String!
      }
      type Feed {
        n: Int!
        at: Float!
        items: [Item!]!
      }
      type Query {
        feed(key: Int): Feed!
      }
    `,
    resolvers: { Query: { feed: () => feed.read() } },
  })
}
