import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  GraphQLLiveDirectiveSDL,
  useLiveQuery as useTheirs,
  type UseLiveQueryOptions as UseTheirOptions,
} from '@envelop/live-query'
import {
  applyLiveQueryJSONPatch,
  applyLiveQueryJSONPatchGenerator,
} from '@n1ru4l/graphql-live-query-patch-json-patch'
import {
  applyLiveQueryJSONDiffPatch,
  applyLiveQueryJSONDiffPatchGenerator,
} from '@n1ru4l/graphql-live-query-patch-jsondiffpatch'
import { InMemoryLiveQueryStore } from '@n1ru4l/in-memory-live-query-store'
import { connectRawWebSocket, createDisposables, type Disposables } from '@vinyasa/test-kit'
import type { ExecutionResult } from 'graphql'
import { createClient as createSseClient } from 'graphql-sse'
import { createClient } from 'graphql-ws'
import { useServer } from 'graphql-ws/use/ws'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import { EventSource } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { LiveQueryConfig } from '../../apps/gateway/src/answers/answer-types.ts'
import { startWorld, typeDefs, type World as FullWorld } from './world.ts'

// Clients of graphql-live-query as they are written for it: what their server sent is a setting here.

type World = Pick<FullWorld, 'url' | 'wsUrl' | 'rename' | typeof Symbol.asyncDispose>
type OnResult = (result: ExecutionResult<any>) => void

/** Follows a live query until the disposables end. */
type Follow = (world: World, onResult: OnResult, disposables: Disposables) => void

const LIVE = 'query @live { user(id: "1") { id name } }'
const NAMES = ['Eve', 'Joan', 'Grace', 'Mary', 'Edith']

type ApplyPatches = typeof applyLiveQueryJSONPatch

const withPatches =
  (apply: ApplyPatches): Follow =>
  ({ wsUrl }, onResult, disposables) => {
    const client = createClient({ url: wsUrl, webSocketImpl: WebSocket })
    disposables.use(() => client.dispose() as Promise<void>)
    const results = apply(client.iterate({ query: LIVE }) as never) as AsyncIterable<ExecutionResult>
    const read = async (): Promise<void> => {
      for await (const result of results) onResult(result)
    }
    read().catch((error: unknown) => onResult({ errors: [error as never] }))
  }

const eventSource: Follow = ({ url }, onResult, disposables) => {
  const source = new EventSource(`${url}?query=${encodeURIComponent(LIVE)}`)
  disposables.use(async () => source.close())
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- that is what it is about
  source.onmessage = ({ data }) => onResult(JSON.parse(data))
}

const rawWebSocket: Follow = ({ wsUrl }, onResult, disposables) => {
  const read = async (): Promise<void> => {
    const socket = disposables.use(await connectRawWebSocket(wsUrl))
    socket.sendJson({ type: 'connection_init' })
    await socket.nextJson()
    socket.sendJson({ id: '1', type: 'subscribe', payload: { query: LIVE } })
    for (;;) onResult((await socket.nextJson()).payload)
  }
  read().catch(() => {})
}

const graphqlSse: Follow = ({ url }, onResult, disposables) => {
  const client = createSseClient({ url })
  disposables.use(async () => client.dispose())
  client.subscribe({ query: LIVE }, { next: onResult as never, error() {}, complete() {} })
}

/** Their own server: Envelop's plugin, its store, and patches or none. */
async function startTheirs(patches: UseTheirOptions['applyLiveQueryPatchGenerator']): Promise<World> {
  const user = { id: '1', name: 'Ada' }
  const liveQueryStore = new InMemoryLiveQueryStore()
  const yoga = createYoga({
    logging: false,
    schema: createSchema({
      typeDefs: [typeDefs, GraphQLLiveDirectiveSDL],
      resolvers: { Query: { user: () => ({ ...user }) } },
    }),
    plugins: [
      useTheirs({ liveQueryStore, ...(patches && { applyLiveQueryPatchGenerator: patches }) }) as Plugin,
    ],
  })
  const server = createServer(yoga)
  const sockets = new WebSocketServer({ server, path: '/graphql' })
  const served = useServer(
    {
      execute: (args: any) => args.rootValue.execute(args),
      subscribe: (args: any) => args.rootValue.subscribe(args),
      async onSubscribe(context, _id, payload) {
        const { schema, execute, subscribe, contextFactory, parse } = yoga.getEnveloped({
          ...context,
          params: payload,
        })
        const document = parse(payload.query)
        return { schema, document, contextValue: await contextFactory(), rootValue: { execute, subscribe } }
      },
    },
    sockets,
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}/graphql`
  return {
    url: `http://${address}`,
    wsUrl: `ws://${address}`,
    async rename(name) {
      user.name = name
      await liveQueryStore.invalidate('User:1')
    },
    async [Symbol.asyncDispose]() {
      await served.dispose()
      server.closeAllConnections()
      server.close()
    },
  }
}

const OLDER: LiveQueryConfig = {
  defaults: { enabled: true, throttleMs: 0 },
  updateFields: 'extensions',
  eventNames: false,
}

const CLIENTS: readonly (readonly [string, Follow])[] = [
  ['one that applies JSON patches', withPatches(applyLiveQueryJSONPatch)],
  ['one that applies patches of jsondiffpatch', withPatches(applyLiveQueryJSONDiffPatch as ApplyPatches)],
  ['EventSource.onmessage', eventSource],
  ['a WebSocket', rawWebSocket],
  ['graphql-sse', graphqlSse],
]

/** What a client hears of five changes, each made once it has heard of the one before. */
async function hear(world: World, follow: Follow): Promise<readonly ExecutionResult<any>[]> {
  onTestFinished(() => world[Symbol.asyncDispose]())
  const results: ExecutionResult<any>[] = []
  // Patches of jsondiffpatch change what was heard before.
  const keep: OnResult = (result) => void results.push({ ...result, data: structuredClone(result.data) })
  follow(world, keep, createDisposables(onTestFinished))
  await expect.poll(() => results).toHaveLength(1)
  for (const [index, name] of NAMES.entries()) {
    await world.rename(name)
    await expect.poll(() => results).toHaveLength(index + 2)
  }
  return results
}

const dataOf = (results: readonly ExecutionResult[]): readonly unknown[] =>
  results.map(({ data, errors }) => data ?? errors)

describe('clients of graphql-live-query', () => {
  it.each<readonly [string, Follow, UseTheirOptions['applyLiveQueryPatchGenerator']]>([
    ['JSON patches', withPatches(applyLiveQueryJSONPatch), applyLiveQueryJSONPatchGenerator],
    [
      'patches of jsondiffpatch',
      withPatches(applyLiveQueryJSONDiffPatch as ApplyPatches),
      applyLiveQueryJSONDiffPatchGenerator,
    ],
    ['patches off', rawWebSocket, undefined],
  ])('with %s see what their own server shows them', async (_, follow, patches) => {
    const theirs = dataOf(await hear(await startTheirs(patches), follow))
    expect(theirs).toEqual(['Ada', ...NAMES].map((name) => ({ user: { id: '1', name } })))
    expect(dataOf(await hear(await startWorld({ liveQuery: OLDER }), follow))).toEqual(theirs)
  })

  it('an EventSource asks in production, where the gateway lets it', async () => {
    const graphql = { csrfPrevention: false }
    const world = await startWorld({ liveQuery: OLDER, preset: 'production', graphql })
    expect(dataOf(await hear(world, eventSource))).toHaveLength(6)
  })

  it.each(CLIENTS)('%s hears of five changes', async (_, follow) => {
    const results = await hear(await startWorld({ liveQuery: OLDER }), follow)
    expect(dataOf(results)).toEqual(['Ada', ...NAMES].map((name) => ({ user: { id: '1', name } })))
    expect(results.map(({ extensions }) => extensions?.['liveQuery'])).toMatchObject(
      results.map((_result, index) => ({ revision: index + 1, is_initial: index === 0 })),
    )
    for (const result of results) expect(result).not.toHaveProperty('revision')
  })
})
