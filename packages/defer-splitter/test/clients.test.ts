import { spawn } from 'node:child_process'
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { Defer20220824Handler, GraphQL17Alpha9Handler } from '@apollo/client/incremental'
import { makeExecutableSchema } from '@graphql-tools/schema'
import { Client as UrqlClient, fetchExchange, gql as urqlGql } from '@urql/core'
import { createDisposables, createFakeClock, waitUntil } from '@vinyasa/test-kit'
import {
  ApolloClient as ApolloClient3,
  gql as gql3,
  HttpLink as HttpLink3,
  InMemoryCache as InMemoryCache3,
} from 'apollo-client-3/core'
import * as fetchMultipartModule from 'fetch-multipart-graphql'
import { meros } from 'meros/browser'
import {
  createOperationDescriptor,
  Environment,
  Network,
  Observable,
  RecordSource,
  Store,
} from 'relay-runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listen } from './support/listen.ts'
import { createTestServer } from './support/server.ts'

const query =
  'query UserQuery { user { __typename id ... @defer(label: "UserQuery$defer$details") { __typename bio friend { __typename id name } } } }'
const initial = { user: { __typename: 'User', id: '1' } }
const complete = {
  user: {
    __typename: 'User',
    id: '1',
    bio: 'a long one',
    friend: { __typename: 'User', id: '2', name: 'Bob' },
  },
}

// A CommonJS module without types of its own for this.
const { default: fetchMultipart } = fetchMultipartModule as unknown as {
  readonly default: (url: string, options: object) => void
}

interface Stage {
  readonly url: string
  /** Lets the time of one heartbeat pass. */
  beat(): Promise<void>
  /** Lets the deferred field answer: before that nothing of it can have been written. */
  release(): void
}

/** Reports what the client surfaces; resolves when the client says that it is done. */
type RunClient = (url: string, onData: (data: unknown) => void) => Promise<unknown>

async function createStage(): Promise<Stage> {
  let release: () => void = () => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  const disposables = createDisposables(onTestFinished)
  const schema = makeExecutableSchema({
    typeDefs: 'type Query { user: User } type User { id: ID! name: String bio: String friend: User }',
    resolvers: {
      Query: { user: () => ({ id: '1', friend: { id: '2', name: 'Bob' } }) },
      User: { bio: () => released.then(() => 'a long one') },
    },
  })
  const clock = createFakeClock()
  const { yoga } = createTestServer({ schema, internals: { clock } })
  return { url: await listen(yoga, disposables), beat: () => clock.advance(5_000), release }
}

function postInit(accept: string): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept },
    body: JSON.stringify({ query, operationName: 'UserQuery' }),
  }
}

function observe(
  observable: { subscribe(observer: object): { unsubscribe(): void } },
  until: (value: any) => boolean,
) {
  return (onData: (data: unknown) => void) =>
    new Promise((resolve, reject) => {
      const subscription = observable.subscribe({
        next(value: any) {
          if (value.data) onData(value.data)
          if (until(value)) {
            setImmediate(() => subscription.unsubscribe())
            resolve(undefined)
          }
        },
        error: reject,
      })
    })
}

/** Parts of the specification's format, merged as they come. */
function mergeInto(merged: any, part: any): any {
  if ('data' in part && !('path' in part)) return structuredClone(part.data)
  for (const { path, data } of part.incremental ?? []) {
    Object.assign(
      path.reduce((place: any, segment: any) => place[segment], merged),
      data,
    )
  }
  return structuredClone(merged)
}

const clients: Record<string, RunClient> = {
  '@apollo/client 4, Defer20220824Handler': (url, onData) => {
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      link: new HttpLink({ uri: url }),
      incrementalHandler: new Defer20220824Handler(),
    })
    return observe(
      client.watchQuery({ query: gql(query) }),
      ({ dataState }) => dataState === 'complete',
    )(onData)
  },
  '@apollo/client 4, GraphQL17Alpha9Handler': (url, onData) => {
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      link: new HttpLink({ uri: url }),
      incrementalHandler: new GraphQL17Alpha9Handler(),
    })
    return observe(
      client.watchQuery({ query: gql(query) }),
      ({ dataState }) => dataState === 'complete',
    )(onData)
  },
  '@apollo/client 3.14': (url, onData) => {
    const client = new ApolloClient3({ cache: new InMemoryCache3(), link: new HttpLink3({ uri: url }) })
    return observe(
      client.watchQuery({ query: gql3(query) }),
      ({ data }) => 'bio' in (data?.user ?? {}),
    )(onData)
  },
  '@urql/core 6': (url, onData) => {
    const client = new UrqlClient({ url, exchanges: [fetchExchange], preferGetMethod: false })
    return new Promise((resolve) => {
      client.query(urqlGql(query), {}).subscribe((result) => {
        if (result.data) onData(structuredClone(result.data))
        if (!result.hasNext) resolve(undefined)
      })
    })
  },
  meros: async (url, onData) => {
    const parts = await meros<any>(await fetch(url, postInit('multipart/mixed')))
    if (!(Symbol.asyncIterator in parts)) throw new Error('not multipart')
    let merged: any
    for await (const part of parts) onData((merged = mergeInto(merged, part.body)))
  },
  'fetch-multipart-graphql': (url, onData) =>
    new Promise((resolve, reject) => {
      let merged: any
      fetchMultipart(url, {
        ...postInit('multipart/mixed'),
        onNext: (parts: any[]) => parts.forEach((part) => onData((merged = mergeInto(merged, part)))),
        onComplete: () => resolve(undefined),
        onError: reject,
      })
    }),
  'relay-runtime, flattened': (url, onData) => runRelay(url, onData),
  curl: async (url, onData) => {
    const disposables = createDisposables(onTestFinished)
    const curl = spawn('curl', [
      '-sN',
      url,
      '-H',
      'content-type: application/json',
      '-H',
      'accept: multipart/mixed',
      '-d',
      JSON.stringify({ query }),
    ])
    disposables.use(() => curl.kill())
    let body = ''
    curl.stdout.on('data', (chunk: Buffer) => (body += chunk.toString()))
    let merged: any
    const read = (): boolean => {
      const bodies = body.split(/\r\n---(?:--)?\r\n/)
      const whole = bodies.slice(1, -1).map((part) => JSON.parse(part.split('\r\n\r\n')[1] ?? ''))
      merged = undefined
      for (const part of whole) merged = mergeInto(merged, part)
      if (merged) onData(merged)
      return whole.at(-1)?.hasNext === false
    }
    await waitUntil(read)
  },
}

/** Relay wants each patch as a result of its own, with the label and the place at the top. */
function runRelay(url: string, onData: (data: unknown) => void): Promise<unknown> {
  const network = Network.create(() =>
    Observable.create((sink) => {
      fetchMultipart(url, {
        ...postInit('multipart/mixed'),
        onNext: (parts: any[]) => {
          for (const { incremental, hasNext, ...part } of parts) {
            const extensions = { is_final: hasNext === false }
            if (part.data !== undefined) sink.next({ ...part, extensions })
            for (const patch of incremental ?? []) sink.next({ ...patch, extensions })
          }
        },
        onComplete: () => sink.complete(),
        onError: (error: Error) => sink.error(error),
      })
    }),
  )
  const field = (name: string) => ({ alias: null, args: null, kind: 'ScalarField', name, storageKey: null })
  const linked = (name: string, selections: readonly object[]) => ({
    alias: null,
    args: null,
    concreteType: 'User',
    kind: 'LinkedField',
    name,
    plural: false,
    selections,
    storageKey: null,
  })
  const user = linked('user', [
    field('__typename'),
    field('id'),
    {
      if: null,
      kind: 'Defer',
      label: 'UserQuery$defer$details',
      selections: [
        field('__typename'),
        field('bio'),
        linked('friend', [field('__typename'), field('id'), field('name')]),
      ],
    },
  ])
  const request = {
    kind: 'Request',
    fragment: {
      argumentDefinitions: [],
      kind: 'Fragment',
      metadata: null,
      name: 'UserQuery',
      selections: [user],
      type: 'Query',
      abstractKey: null,
    },
    operation: { argumentDefinitions: [], kind: 'Operation', name: 'UserQuery', selections: [user] },
    params: {
      cacheID: 'user',
      id: null,
      metadata: {},
      name: 'UserQuery',
      operationKind: 'query',
      text: query,
    },
  }
  const environment = new Environment({ network, store: new Store(new RecordSource()) })
  const operation = createOperationDescriptor(request as any, {})
  return new Promise((resolve, reject) => {
    environment.execute({ operation }).subscribe({
      next: () => onData(structuredClone(environment.lookup(operation.fragment).data)),
      complete: () => resolve(undefined),
      error: reject,
    })
  })
}

describe.each(Object.entries(clients))('%s', (title, run) => {
  it('surfaces the first payload before the deferred part is written, and ends with the data complete', async () => {
    const stage = await createStage()
    const surfaced: any[] = []
    const done = run(stage.url, (data) => surfaced.push(data))
    done.catch(() => undefined)
    await waitUntil(() => surfaced.length > 0)
    // Relay reads absent fields as undefined.
    expect(JSON.parse(JSON.stringify(surfaced[0]))).toEqual(initial)
    stage.release()
    await done
    expect(surfaced.at(-1)).toEqual(complete)
  })

  it('ignores heartbeats', async () => {
    const stage = await createStage()
    const surfaced: any[] = []
    const done = run(stage.url, (data) => surfaced.push(data))
    done.catch(() => undefined)
    await waitUntil(() => surfaced.length > 0)
    for (let beats = 0; beats < 3; beats++) {
      await stage.beat()
      // The client reads each heartbeat apart.
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    for (const data of surfaced) expect(JSON.parse(JSON.stringify(data))).toEqual(initial)
    // The script around curl reads all parts again and again.
    expect(title === 'curl' ? surfaced.slice(0, 1) : surfaced).toHaveLength(1)
    stage.release()
    await done
    expect(surfaced.at(-1)).toEqual(complete)
  })
})
