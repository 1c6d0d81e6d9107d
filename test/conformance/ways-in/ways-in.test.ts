import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { useLiveQuery } from '@vinyasa/live-query'
import { attachLiveServer } from '@vinyasa/live-query/ws'
import { createNodeHandler } from '@vinyasa/node-handler'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { useResponseCache } from '@vinyasa/response-cache'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startGateway } from '../../../apps/gateway/test/support/gateway.ts'
import { REFUSALS } from './refusals.ts'
import { waysIn, type Endpoints } from './ways.ts'

const SECRET = 'the value that nobody may see'
const typeDefs = /* GraphQL */ `
  type Query {
    secret: String
  }
  type Mutation {
    tell: String
  }
  type Subscription {
    secrets: String
  }
`

function createWorld() {
  const world = { resolved: 0 }
  const tell = (): string => {
    world.resolved++
    return SECRET
  }
  const resolvers = {
    Query: { secret: tell },
    Mutation: { tell },
    Subscription: {
      secrets: {
        async *subscribe() {
          yield { secrets: tell() }
        },
      },
    },
  }
  return { world, resolvers }
}

type World = ReturnType<typeof createWorld>

interface Composition {
  readonly name: string
  readonly sockets: number
  start(plugins: readonly Plugin[], world: World): Promise<Endpoints>
}

const carte = (
  name: string,
  order: (refusing: readonly Plugin[], live: Plugin) => Plugin[],
): Composition => ({
  name,
  sockets: 1,
  async start(plugins, { resolvers }) {
    const live = useLiveQuery({ defaults: { enabled: true } })
    const yoga = createYoga({
      schema: createSchema({ typeDefs, resolvers }),
      logging: false,
      batching: true,
      plugins: order(plugins, live),
    })
    const server = createServer(createNodeHandler(yoga))
    const sockets = attachLiveServer(server, { plugin: live })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(async () => {
      await sockets.close()
      live.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    const { port } = server.address() as AddressInfo
    const http = `http://127.0.0.1:${port}/graphql`
    return { http, sockets: [`ws://127.0.0.1:${port}/graphql/live`] }
  },
})

const composed = (preset: 'development' | 'production'): Composition => ({
  name: `the gateway, ${preset}`,
  sockets: 2,
  async start(plugins, { resolvers }) {
    const { endpoint: http } = await startGateway({
      preset,
      typeDefs,
      resolvers,
      plugins: plugins.map((plugin) => Object.assign(plugin, { readsHeaders: [] })),
      responseCache: true,
      graphql: { batching: 10 },
      liveQuery: { defaults: { enabled: true } },
    })
    const socket = http.replace('http', 'ws')
    return { http, sockets: [socket, `${socket}/live`] }
  },
})

const COMPOSITIONS: readonly Composition[] = [
  carte('à la carte, before live queries', (refusing, live) => [...refusing, useDeferSplitter(), live]),
  carte('à la carte, after live queries', (refusing, live) => [useDeferSplitter(), live, ...refusing]),
  carte('à la carte, among all behaviours', (refusing, live) => [
    ...refusing,
    useResponseCache(),
    useDeferSplitter(),
    live,
  ]),
  composed('development'),
  composed('production'),
]

describe.each(COMPOSITIONS)('$name', ({ start, sockets }) => {
  const ways = waysIn(sockets)

  it('lets every way in through where no plugin refuses', async () => {
    const endpoints = await start([], createWorld())
    for (const way of ways)
      expect([way.name, await way.ask(endpoints)]).toEqual([way.name, expect.stringContaining(SECRET)])
  })

  it.each(REFUSALS)('$name: no way in gets by', async ({ plugin, isEarly }) => {
    const { world, ...rest } = createWorld()
    const endpoints = await start([plugin], { world, ...rest })
    for (const way of ways) {
      const answer = await way.ask(endpoints)
      expect([way.name, answer]).toEqual([way.name, expect.not.stringContaining(SECRET)])
      expect([way.name, answer]).toEqual([way.name, expect.stringMatching(/refused here|^[45]\d\d /)])
      expect([way.name, isEarly ? world.resolved : 0]).toEqual([way.name, 0])
    }
  })
})
