import { ApolloClient, InMemoryCache, gql } from '@apollo/client'
import { GraphQLWsLink } from '@apollo/client/link/subscriptions'
import {
  cacheExchange,
  createClient as createUrqlClient,
  fetchExchange,
  subscriptionExchange,
} from '@urql/core'
import { createClient, type Client } from 'graphql-ws'
import { createClient as createSseClient } from 'graphql-sse'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { startLive, type LiveSetup } from './support.ts'

const QUERY = 'query @live { users { users { id name } totalCount } }'

let setup: LiveSetup
const clients: Client[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.dispose()
  await setup.close()
})

function connect(): Client {
  const client = createClient({ url: setup.wsUrl, webSocketImpl: WebSocket })
  clients.push(client)
  return client
}

const namesIn = (data: any): string => data.users.users.map((user: { name: string }) => user.name).join(' ')

/** What every client must see: the first result, then one after a change, and nothing left when it unsubscribes. */
async function follow(seen: string[], unsubscribe: () => void): Promise<void> {
  await expect.poll(() => seen).toEqual(['Ada Bob'])
  await setup.changeUser('1', { name: 'Eve' })
  await expect.poll(() => seen).toEqual(['Ada Bob', 'Eve Bob'])
  expect(setup.plugin.store.stats().subscriptions).toBe(1)
  unsubscribe()
  await expect.poll(() => setup.plugin.store.stats().subscriptions).toBe(0)
}

describe('real clients', () => {
  it('graphql-ws createClient: subscribe', async () => {
    setup = await startLive({ realTime: true })
    const seen: string[] = []
    const updates: any[] = []
    const stop = connect().subscribe(
      { query: QUERY },
      {
        next: (result) => {
          updates.push(result)
          seen.push(namesIn(result.data))
        },
        error: (error) => seen.push(String(error)),
        complete: () => {},
      },
    )
    await follow(seen, stop)
    expect(updates[1]).toMatchObject({
      is_initial: false,
      revision: 2,
      changed_fields: ['users.users[0].name'],
    })
  })

  it('graphql-ws createClient: iterate, with complete when the ttl is over', async () => {
    setup = await startLive({ realTime: true, plugin: { fields: { expiring: { ttlSeconds: 0.2 } } } })
    const seen: unknown[] = []
    for await (const result of connect().iterate({ query: 'query @live { expiring { name } }' }))
      seen.push(result.data)
    expect(seen).toEqual([{ expiring: { name: 'Ada' } }])
  })

  it('graphql-ws createClient: reconnects by itself after the socket broke, and is true again', async () => {
    setup = await startLive({ realTime: true })
    const seen: string[] = []
    let socket: WebSocket | undefined
    let network = (): void => {}
    const down = new Promise<void>((resolve) => (network = resolve))
    const client = createClient({
      url: setup.wsUrl,
      webSocketImpl: WebSocket,
      retryWait: () => down,
      on: { opened: (opened) => void (socket = opened as WebSocket) },
    })
    clients.push(client)
    client.subscribe(
      { query: QUERY },
      {
        next: (result) => void seen.push(namesIn(result.data)),
        error: (error) => void seen.push(String(error)),
        complete: () => {},
      },
    )
    await expect.poll(() => seen).toEqual(['Ada Bob'])
    socket?.terminate()
    await expect.poll(() => setup.plugin.store.stats().subscriptions).toBe(0)
    await setup.changeUser('1', { name: 'Eve' })
    network()
    await expect.poll(() => seen.at(-1), { timeout: 5000 }).toBe('Eve Bob')
  })

  it('graphql-sse createClient', async () => {
    setup = await startLive({ realTime: true })
    const seen: string[] = []
    const updates: any[] = []
    const stop = createSseClient({ url: setup.url, retryAttempts: 0 }).subscribe<any>(
      { query: QUERY },
      {
        next: (result) => {
          updates.push((result.extensions as any)?.liveQuery)
          seen.push(namesIn(result.data))
        },
        error: (error) => seen.push(String(error)),
        complete: () => {},
      },
    )
    await follow(seen, stop)
    expect(updates[1]).toMatchObject({
      is_initial: false,
      revision: 2,
      changed_fields: ['users.users[0].name'],
    })
  })

  it('@urql/core with its subscriptionExchange', async () => {
    setup = await startLive({ realTime: true })
    const ws = connect()
    const client = createUrqlClient({
      url: setup.url,
      exchanges: [
        cacheExchange,
        subscriptionExchange({
          enableAllOperations: true,
          forwardSubscription: ({ query = '', variables }) => ({
            subscribe: (sink) => ({
              unsubscribe: ws.subscribe(
                { query, variables: variables as Record<string, unknown> },
                sink as never,
              ),
            }),
          }),
        }),
        fetchExchange,
      ],
    })
    const seen: string[] = []
    const { unsubscribe } = client
      .query(QUERY, {}, { requestPolicy: 'network-only' })
      .subscribe((result) => void (result.data && seen.push(namesIn(result.data))))
    await follow(seen, unsubscribe)
    expect(seen).toHaveLength(2)
  })

  it('Apollo Client 4 with GraphQLWsLink', async () => {
    setup = await startLive({ realTime: true })
    const client = new ApolloClient({ link: new GraphQLWsLink(connect()), cache: new InMemoryCache() })
    const seen: string[] = []
    const observable = client.watchQuery({ query: gql(QUERY), fetchPolicy: 'network-only' })
    const subscription = observable.subscribe(({ data }) => void (data && seen.push(namesIn(data))))
    await follow(seen, () => subscription.unsubscribe())
    expect(seen).toHaveLength(2)
    client.stop()
  })
})
