import { connectRawWebSocket } from '@vinyasa/test-kit'

export interface Endpoints {
  /** Where requests over HTTP go. */
  readonly http: string
  /** Where sockets open. */
  readonly sockets: readonly string[]
}

/** One way of an operation to the server; gives everything that came back, as text. */
export interface WayIn {
  readonly name: string
  /** Whether a subscription, so that `onSubscribe` runs where `onExecute` does else. */
  readonly subscribes?: true
  ask(endpoints: Endpoints, headers?: Readonly<Record<string, string>>): Promise<string>
}

const QUERY = 'query { secret }'
const LIVE = 'query @live { secret }'
const JSON_TYPE = { 'content-type': 'application/json' }

function post(name: string, body: unknown, own: Readonly<Record<string, string>> = {}): WayIn {
  return {
    name,
    ask: ({ http }, headers) =>
      read(http, {
        method: 'POST',
        headers: { ...JSON_TYPE, ...own, ...headers },
        body: JSON.stringify(body),
      }),
  }
}

const SSE = { accept: 'text/event-stream' }
const PARTS = { accept: 'multipart/mixed;subscriptionSpec=1.0, application/json' }

const OVER_HTTP: readonly WayIn[] = [
  post('POST', { query: QUERY }),
  {
    name: 'GET',
    ask: ({ http }, headers) =>
      read(`${http}?query=${encodeURIComponent(QUERY)}`, { headers: { 'x-graphql-csrf': '1', ...headers } }),
  },
  post('batch', [{ query: QUERY }, { query: QUERY }]),
  {
    name: 'multipart request',
    ask({ http }, headers) {
      const body = new FormData()
      body.set('operations', JSON.stringify({ query: QUERY }))
      body.set('map', '{}')
      return read(http, { method: 'POST', headers: { 'x-graphql-csrf': '1', ...headers }, body })
    },
  },
  {
    name: 'form',
    ask: ({ http }, headers) =>
      read(http, {
        method: 'POST',
        headers: { 'x-graphql-csrf': '1', ...headers },
        body: new URLSearchParams({ query: QUERY }),
      }),
  },
  post('multipart response', { query: 'query { ... @defer { secret } }' }, { accept: 'multipart/mixed' }),
  { ...post('SSE, subscription', { query: 'subscription { secrets }' }, SSE), subscribes: true },
  post('SSE, live', { query: LIVE }, SSE),
  { ...post('parts, subscription', { query: 'subscription { secrets }' }, PARTS), subscribes: true },
  post('parts, live', { query: LIVE }, PARTS),
  {
    name: 'SSE by GET, live',
    ask: ({ http }, headers) =>
      read(`${http}?query=${encodeURIComponent(LIVE)}`, {
        headers: { ...SSE, 'x-graphql-csrf': '1', ...headers },
      }),
  },
]

function overSocket(name: string, query: string, index: number): WayIn {
  return {
    name: `socket ${index + 1}, ${name}`,
    ...(name === 'subscription' && { subscribes: true as const }),
    async ask({ sockets }, headers = {}) {
      await using socket = await connectRawWebSocket(sockets[index] ?? '', { headers })
      socket.sendJson({ type: 'connection_init' })
      await socket.nextJson()
      socket.sendJson({ type: 'subscribe', id: '1', payload: { query } })
      return (await socket.next()).text
    },
  }
}

/** Every way in that a server with so many socket paths has. */
export function waysIn(socketPaths: number): readonly WayIn[] {
  const operations: readonly (readonly [string, string])[] = [
    ['query', QUERY],
    ['mutation', 'mutation { tell }'],
    ['subscription', 'subscription { secrets }'],
    ['live', LIVE],
  ]
  return [
    ...OVER_HTTP,
    ...Array.from({ length: socketPaths }, (_, index) =>
      operations.map(([name, query]) => overSocket(name, query, index)),
    ).flat(),
  ]
}

/** The answer, or of an endless one the first event. */
async function read(url: string, init: RequestInit): Promise<string> {
  const abort = new AbortController()
  const response = await fetch(url, { ...init, signal: abort.signal })
  let text = `${response.status} `
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (/data:.*\n\n|"payload":.*\r\n--/.test(text)) break
  }
  abort.abort()
  return text
}
