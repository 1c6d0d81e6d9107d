import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { useLiveQuery } from '@vinyasa/live-query'
import { attachLiveServer } from '@vinyasa/live-query/ws'
import { createNodeHandler, type NodeHandler } from '@vinyasa/node-handler'
import { connectRawWebSocket, createDisposables, type RawWebSocket } from '@vinyasa/test-kit'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { onTestFinished } from 'vitest'

export const WAYS = ["node-handler's door", "Yoga's door", 'yoga.fetch', 'batch', 'socket'] as const
export type Way = (typeof WAYS)[number]

export interface Params {
  readonly query?: unknown
  readonly variables?: unknown
  readonly operationName?: unknown
  readonly extensions?: unknown
}

export interface Answer {
  /** Of sockets, which have none: 0. */
  readonly status: number
  readonly headers: Headers
  /** The result, or the whole text where that is no JSON. */
  readonly result: any
}

export interface Server {
  readonly handler: NodeHandler
  ask(way: Way, params: Params, headers?: Record<string, string>): Promise<Answer>
  /** Asks by HTTP as `init` says; the ways of HTTP alone. */
  send(way: Exclude<Way, 'batch' | 'socket'>, target: string, init: RequestInit): Promise<Response>
  openSocket(headers?: Record<string, string>): Promise<RawWebSocket>
  /** Calls of the resolvers since the server was started. */
  readonly calls: string[]
  change(): Promise<unknown>
}

const typeDefs = /* GraphQL */ `
  type Query {
    hello: String
    me: String
    secret: String
    fails: String
    late: String
    count: Int
  }
  type Mutation {
    change: String
  }
`

/** One server behind all doors, with live queries last and whatever else in its place. */
export async function startServer(plugins: readonly object[]): Promise<Server> {
  const closing = createDisposables(onTestFinished)
  const calls: string[] = []
  const called =
    (name: string, answer: (context: { readonly request: Request }) => unknown) =>
    (_root: unknown, _args: unknown, context: { readonly request: Request }) => {
      calls.push(name)
      return answer(context)
    }
  let count = 0
  const live = useLiveQuery({ defaults: { enabled: true, throttleMs: 0 } })
  const yoga = createYoga({
    logging: false,
    batching: { limit: 3 },
    schema: createSchema<{ readonly request: Request }>({
      typeDefs,
      resolvers: {
        Query: {
          hello: called('hello', () => 'world'),
          me: called('me', ({ request }) => request.headers.get('authorization')),
          secret: called('secret', () => 'a secret'),
          fails: called('fails', () => {
            throw new Error('a secret')
          }),
          late: called('late', async () => {
            await new Promise((resolve) => setImmediate(resolve))
            return 'late'
          }),
          count: called('count', () => ++count),
        },
        Mutation: { change: called('change', () => 'changed') },
      },
    }),
    plugins: [...plugins, live] as Plugin[],
  })
  const handler = createNodeHandler(yoga)
  async function listen(listener: (...args: any[]) => unknown): Promise<string> {
    const server = createServer(listener)
    const sockets = attachLiveServer(server, { plugin: live })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.use(async () => {
      await sockets.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const thin = await listen(handler)
  const yogas = await listen(yoga)
  closing.use(() => live.close())

  const send: Server['send'] = async (way, target, init) => {
    if (way === 'yoga.fetch') return yoga.fetch(`http://localhost${target}`, init)
    return fetch(`http://${way === "Yoga's door" ? yogas : thin}${target}`, init)
  }

  async function openSocket(headers: Record<string, string> = {}): Promise<RawWebSocket> {
    const socket = await connectRawWebSocket(`ws://${thin}/graphql/live`, { headers })
    closing.use(() => socket.terminate())
    socket.sendJson({ type: 'connection_init' })
    await socket.nextJson()
    return socket
  }

  async function askSocket(params: Params, headers: Record<string, string>): Promise<Answer> {
    const socket = await openSocket(headers)
    socket.sendJson({ type: 'subscribe', id: '1', payload: params })
    const { type, payload } = (await socket.nextJson()) as { type: string; payload: unknown }
    socket.terminate()
    return { status: 0, headers: new Headers(), result: type === 'error' ? { errors: payload } : payload }
  }

  return {
    handler,
    calls,
    send,
    openSocket,
    change: () => Promise.resolve(live.store.invalidate({ entityType: 'Query', operation: '*' })),
    async ask(way, params, headers = {}) {
      if (way === 'socket') return askSocket(params, headers)
      const response = await send(way === 'batch' ? "node-handler's door" : way, '/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(way === 'batch' ? [params, { query: '{ __typename }' }] : params),
      })
      const text = await response.text()
      const result = parsed(text)
      return {
        status: response.status,
        headers: response.headers,
        result: way === 'batch' && Array.isArray(result) ? result[0] : result,
      }
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
