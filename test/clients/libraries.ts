import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { Defer20220824Handler, GraphQL17Alpha9Handler } from '@apollo/client/incremental'
import { GraphQLWsLink } from '@apollo/client/link/subscriptions'
import { Client as UrqlClient, fetchExchange, gql as urqlGql, subscriptionExchange } from '@urql/core'
import { cacheExchange } from '@urql/exchange-graphcache'
import {
  ApolloClient as ApolloClient3,
  ApolloLink as ApolloLink3,
  gql as gql3,
  HttpLink as HttpLink3,
  InMemoryCache as InMemoryCache3,
} from 'apollo-client-3/core'
import { GraphQLWsLink as GraphQLWsLink3 } from 'apollo-client-3/link/subscriptions'
import { GraphQLClient } from 'graphql-request'
import { createClient as createSseClient } from 'graphql-sse'
import { createClient as createWsClient, type Client as WsClient } from 'graphql-ws'
import { meros } from 'meros/browser'
import { WebSocket } from 'ws'
import { createRelay } from './relay.ts'

type OnData = (data: any) => void

/** A client library as its users set it up. What it cannot do is left out. */
export interface Library {
  ask?(document: string): Promise<any>
  /** Every state of the data that it surfaces. */
  defer?(document: string): Promise<readonly any[]>
  /** Subscriptions and live queries. Returns how to unsubscribe. */
  follow?(document: string, onData: OnData): () => void
  close(): Promise<void> | void
}

export type CreateLibrary = (url: string, wsUrl: string) => Library

const isMutation = (document: string): boolean => document.startsWith('mutation')
const isFollowed = (query: unknown): boolean => /^subscription|@live/.test(String(query))

function connectWs(url: string): WsClient {
  return createWsClient({
    url,
    webSocketImpl: WebSocket,
    retryWait: () => Promise.resolve(),
    shouldRetry: () => true,
  })
}

function followWith(
  subscribe: (sink: { next: (result: any) => void; error: () => void; complete: () => void }) => () => void,
  onData: OnData,
): () => void {
  return subscribe({ next: ({ data }) => data && onData(data), error: () => {}, complete: () => {} })
}

/** What an observable surfaces, until `isDone` says that a result is the last. */
function collect(observable: any, isDone: (result: any) => boolean): Promise<readonly any[]> {
  const seen: any[] = []
  return new Promise((resolve, reject) => {
    const subscription = observable.subscribe({
      next(result: any) {
        if (result.data) seen.push(structuredClone(result.data))
        if (!isDone(result)) return
        setImmediate(() => subscription.unsubscribe())
        resolve(seen)
      },
      error: reject,
    })
  })
}

function apollo4(handler: () => Defer20220824Handler | GraphQL17Alpha9Handler): CreateLibrary {
  return (url, wsUrl) => {
    const ws = connectWs(wsUrl)
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      incrementalHandler: handler(),
      link: ApolloLink.split(
        ({ query }) => isFollowed(query.loc?.source.body),
        new GraphQLWsLink(ws),
        new HttpLink({ uri: url }),
      ),
    })
    return {
      ask: async (document) =>
        isMutation(document)
          ? (await client.mutate({ mutation: gql(document) })).data
          : (await client.query({ query: gql(document) })).data,
      defer: (document) =>
        collect(client.watchQuery({ query: gql(document) }), ({ dataState }) => dataState === 'complete'),
      follow(document, onData) {
        const query = gql(document)
        const observable: any = document.startsWith('subscription')
          ? client.subscribe({ query })
          : client.watchQuery({ query, fetchPolicy: 'network-only' })
        const subscription = observable.subscribe({
          next: ({ data }: any) => data && onData(data),
          error() {},
        })
        return () => subscription.unsubscribe()
      },
      async close() {
        client.stop()
        await ws.dispose()
      },
    }
  }
}

const apollo3: CreateLibrary = (url, wsUrl) => {
  const ws = connectWs(wsUrl)
  const client = new ApolloClient3({
    cache: new InMemoryCache3(),
    link: ApolloLink3.split(
      ({ query }) => isFollowed(query.loc?.source.body),
      new GraphQLWsLink3(ws),
      new HttpLink3({ uri: url }),
    ),
  })
  return {
    ask: async (document) =>
      isMutation(document)
        ? (await client.mutate({ mutation: gql3(document) })).data
        : (await client.query({ query: gql3(document) })).data,
    defer: (document) =>
      collect(client.watchQuery({ query: gql3(document) }), ({ data }) => 'bio' in (data?.user ?? {})),
    follow(document, onData) {
      const query = gql3(document)
      const observable: any = document.startsWith('subscription')
        ? client.subscribe({ query })
        : client.watchQuery({ query, fetchPolicy: 'network-only' })
      const subscription = observable.subscribe({ next: ({ data }: any) => data && onData(data), error() {} })
      return () => subscription.unsubscribe()
    },
    async close() {
      client.stop()
      await ws.dispose()
    },
  }
}

const urql: CreateLibrary = (url, wsUrl) => {
  const ws = connectWs(wsUrl)
  const client = new UrqlClient({
    url,
    preferGetMethod: false,
    exchanges: [
      cacheExchange({}),
      subscriptionExchange({
        isSubscriptionOperation: ({ query }) => isFollowed(query.loc?.source.body),
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
  return {
    async ask(document) {
      const { data, error } = isMutation(document)
        ? await client.mutation(urqlGql(document), {}).toPromise()
        : await client.query(urqlGql(document), {}).toPromise()
      if (error) throw error
      return data
    },
    defer: (document) =>
      new Promise((resolve) => {
        const seen: any[] = []
        client.query(urqlGql(document), {}).subscribe((result) => {
          if (result.data) seen.push(structuredClone(result.data))
          if (!result.hasNext) resolve(seen)
        })
      }),
    follow(document, onData) {
      const source = document.startsWith('subscription')
        ? client.subscription(urqlGql(document), {})
        : client.query(urqlGql(document), {}, { requestPolicy: 'network-only' })
      return source.subscribe(({ data }) => data && onData(data)).unsubscribe
    },
    close: () => ws.dispose(),
  }
}

/** Adds a part of a deferred answer to what came before it. */
function merge(before: any, { data, incremental = [] }: any): any {
  const merged = structuredClone(before ?? data)
  for (const patch of incremental) {
    Object.assign(
      patch.path.reduce((place: any, key: any) => place[key], merged),
      patch.data,
    )
  }
  return merged
}

/** What graphql-ws and graphql-sse have in common: they leave it to their users to merge the parts. */
function plainFollower(client: {
  subscribe(request: { query: string }, sink: any): () => void
  dispose(): void | Promise<void>
}): Library {
  return {
    ask: (query) =>
      new Promise((resolve, reject) => {
        let data: any
        client.subscribe(
          { query },
          { next: (result: any) => (data = result.data), error: reject, complete: () => resolve(data) },
        )
      }),
    defer: (query) =>
      new Promise((resolve, reject) => {
        const seen: any[] = []
        client.subscribe(
          { query },
          {
            next: (part: any) => seen.push(merge(seen.at(-1), part)),
            error: reject,
            complete: () => resolve(seen),
          },
        )
      }),
    follow: (query, onData) => followWith((sink) => client.subscribe({ query }, sink), onData),
    close: () => client.dispose(),
  }
}

const graphqlRequest: CreateLibrary = (url) => {
  const client = new GraphQLClient(url)
  return {
    ask: (document) => client.request(document),
    defer: async (document) => [await client.request(document)],
    close() {},
  }
}

const merosWithFetch: CreateLibrary = (url) => {
  const send = (query: string): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'multipart/mixed, application/json;q=0.9' },
      body: JSON.stringify({ query }),
    })
  return {
    // What is no multipart is handed back as it is.
    ask: async (query) => (await ((await meros(await send(query))) as Response).json()).data,
    async defer(query) {
      const seen: any[] = []
      for await (const { body } of (await meros<any>(await send(query))) as AsyncIterable<any>)
        seen.push(merge(seen.at(-1), body))
      return seen
    },
    close() {},
  }
}

export const libraries: Readonly<Record<string, CreateLibrary>> = {
  'Apollo Client 4, Defer20220824Handler': apollo4(() => new Defer20220824Handler()),
  'Apollo Client 4, GraphQL17Alpha9Handler': apollo4(() => new GraphQL17Alpha9Handler()),
  'Apollo Client 3': apollo3,
  'urql with graphcache': urql,
  Relay: (url, wsUrl) => createRelay(url, connectWs(wsUrl)),
  'graphql-ws': (_, wsUrl) => plainFollower(connectWs(wsUrl)),
  'graphql-sse': (url) =>
    plainFollower(createSseClient({ url, retry: () => new Promise((resolve) => setTimeout(resolve, 20)) })),
  'graphql-request': graphqlRequest,
  meros: merosWithFetch,
}
