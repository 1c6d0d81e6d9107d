import { readFileSync } from 'node:fs'
import { useAPQ } from '@graphql-yoga/plugin-apq'
import { useDeferSplitter } from '@vinyasa/defer-splitter'
import { useLiveQuery } from '@vinyasa/live-query'
import { usePipeline } from '@vinyasa/core/pipeline'
import { useResponseCache } from '@vinyasa/response-cache'
import { createSchema, type Plugin } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { exchange, openDoors } from '../../packages/node-handler/test/doors.ts'
import { libraryRecordings } from '../corpus/clients/record.ts'
import {
  CAPTURED_ETAG,
  type CapturedClient,
  capturedClients,
  type CapturedRequest,
  CLIENTS_FOLDER,
} from './captured-requests.ts'
import { startWorld, typeDefs } from './world.ts'

/** Node sends other values with other versions. */
function withoutEncoding(client: CapturedClient): CapturedClient {
  const requests = client.requests.map((request) => ({
    ...request,
    headers: request.headers.filter(([name]) => name !== 'accept-encoding'),
  }))
  return { ...client, requests }
}

it.each(Object.entries(libraryRecordings))('%s sends the captured requests', async (name, record) => {
  const captured = JSON.parse(readFileSync(new URL(`${name}.json`, CLIENTS_FOLDER), 'utf8'))
  expect(withoutEncoding(await record())).toEqual(withoutEncoding(captured))
})

const PAGE = 'https://shop.example'
const cors = { origin: [PAGE] }
const user = { id: '1', name: 'Ada' }
const schema = createSchema({
  typeDefs: `directive @defer(if: Boolean! = true, label: String) on INLINE_FRAGMENT ${typeDefs}`,
  resolvers: {
    Query: { user: () => user },
    Mutation: { rename: () => user },
    Subscription: {
      ticks: {
        async *subscribe() {
          yield { ticks: 1 }
        },
      },
    },
  },
})

/** The entity tag of the last response that had one. */
type Tag = string | undefined

function bytesOf({ method, target, headers, body }: CapturedRequest, tag: Tag): Buffer {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'Host: api.example',
    'Connection: close',
    ...(method === 'POST' ? [`Content-Length: ${Buffer.byteLength(body)}`] : []),
    ...headers.map(([name, value]) => `${name}: ${value === CAPTURED_ETAG ? (tag ?? value) : value}`),
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`)
}

const send = async (url: string, request: CapturedRequest, tag: Tag): Promise<string> =>
  // A stored response gets older between two requests.
  (await exchange(url, bytesOf(request, tag))).replace(/^age: .*$/gim, 'Age: some seconds')

interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Reads a response. A body in one chunk loses the marks of the chunk. */
function parsed(text: string): RawResponse {
  const end = text.indexOf('\r\n\r\n')
  const body = text.slice(end + 4)
  const [status = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(': ')
      return [line.slice(0, at).toLowerCase(), line.slice(at + 2)]
    }),
  )
  const chunk = /^[0-9a-f]+\r\n([^\r]*)\r\n0\r\n\r\n$/.exec(body)?.[1]
  return { status: Number(status.split(' ')[1]), headers, body: chunk ?? body }
}

/** Kinds whose responses plain Yoga sends in another format, or not at all. */
const INCREMENTAL = new Set(['deferred query', 'subscription'])

interface Server {
  /** Whether the server has a response cache. */
  readonly caches: boolean
  /** The status for the hash of an unknown document. */
  readonly notFound: number
}
const PLAIN: Server = { caches: false, notFound: 404 }
const FULL: Server = { caches: true, notFound: 404 }
const GATEWAY: Server = { caches: true, notFound: 200 }

/** Returns what a response contains, so that two equal failures do not pass. */
function expectedOf({ kind }: CapturedRequest, { caches, notFound }: Server, round: number): object {
  const containing = (text: string, status = 200): object => ({ status, body: expect.stringContaining(text) })
  if (kind === 'preflight') return { status: 204, body: '' }
  if (kind === 'conditional query' && caches) return { status: 304, body: '' }
  if (kind === 'persisted query' && round === 1) return containing('PersistedQueryNotFound', notFound)
  if (kind === 'deferred query') return containing('"hasNext":true')
  if (kind === 'subscription') return containing('"ticks":1')
  return containing(kind === 'mutation' ? '"rename":{' : '"user":{')
}

/** Headers that the response cache sets on responses of Yoga. */
const OF_CACHE = new Set(['x-cache', 'age', 'etag', 'cache-control', 'vary'])
const withoutCache = ({ headers }: RawResponse): object =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CACHE.has(name)))

/** Headers that plain Yoga sets. */
const ofYoga = ({ headers }: RawResponse): object =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => /^content-|^access-control-/.test(name)))

/** The settings of Yoga with which the gateway differs from Yoga's defaults. */
const ofGateway = () => ({
  schema,
  cors: { ...cors, exposedHeaders: ['x-request-id', 'x-cache', 'age'] },
  plugins: [useAPQ({ responseConfig: { forceStatusCodeOk: true } })],
})

const FEATURES = (): Plugin[] => [
  useAPQ(),
  useResponseCache(),
  useDeferSplitter(),
  useLiveQuery({ defaults: { enabled: true } }) as Plugin,
  usePipeline() as Plugin,
]
// The second round finds cached documents, and the third one cached responses.
const ROUNDS = [1, 2, 3]

describe('each captured request gets the response of plain Yoga', () => {
  it.each(capturedClients)('$client, from node-handler with every plugin', async ({ requests }) => {
    const plain = await openDoors(() => ({ schema, cors, plugins: [useAPQ()] }))
    const full = await openDoors(() => ({ schema, cors, plugins: FEATURES() }))
    expect(full.handler.uncachedReasons).toEqual([])
    let tag: Tag
    for (const round of ROUNDS)
      for (const request of requests) {
        const response = parsed(await send(full.thin, request, tag))
        // The same plugins behind Yoga's own listener.
        expect(response).toEqual(parsed(await send(full.yoga, request, tag)))
        expect(response).toMatchObject(expectedOf(request, FULL, round))
        tag = response.headers['etag'] ?? tag
        if (INCREMENTAL.has(request.kind)) continue
        const yoga = await send(plain.yoga, request, undefined)
        expect(await send(plain.thin, request, undefined)).toBe(yoga)
        const own = parsed(yoga)
        expect(own).toMatchObject(expectedOf(request, PLAIN, round))
        if (response.status === 304) continue
        expect([response.status, withoutCache(response), response.body]).toEqual([
          own.status,
          withoutCache(own),
          own.body,
        ])
        expect(response.headers['vary'] ?? '').toContain(own.headers['vary'] ?? '')
      }
  })

  it.each(capturedClients)('$client, from the gateway', async ({ requests }) => {
    await using world = await startWorld({ apq: true, graphql: { cors: [PAGE] } })
    const plain = await openDoors(ofGateway)
    let tag: Tag
    for (const round of ROUNDS)
      for (const request of requests) {
        if (INCREMENTAL.has(request.kind)) continue
        const response = parsed(await send(world.url, request, tag))
        expect(response).toMatchObject(expectedOf(request, GATEWAY, round))
        tag = response.headers['etag'] ?? tag
        if (response.status === 304) continue
        const own = parsed(await send(plain.yoga, request, undefined))
        expect({ ...response, headers: ofYoga(response) }).toEqual({ ...own, headers: ofYoga(own) })
      }
  })
})
