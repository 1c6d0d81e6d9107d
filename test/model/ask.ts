import { connectRawWebSocket, requestMultipart } from '@vinyasa/test-kit'
import type { UserHeaders, Way } from './plan.ts'

/** A GraphQL answer, whatever carried it. */
export interface Answer {
  readonly data?: unknown
  readonly errors?: readonly {
    readonly message?: string
    readonly path?: unknown
    readonly extensions?: { readonly code?: unknown }
  }[]
  /** Of the response cache, over HTTP. */
  readonly cache?: string
}

const PATIENCE_MS = 15_000
export const SOCKET_PATHS = { 'graphql socket': '/graphql', 'live socket': '/graphql/live' } as const

/** Asks on a connection of its own, as workers share a port by connections. */
export async function ask(
  url: string,
  query: string,
  headers: UserHeaders & Readonly<Record<string, string>>,
  way: Way,
  signal?: AbortSignal,
): Promise<Answer> {
  switch (way) {
    case 'graphql socket':
    case 'live socket':
      return askSocket(`${url}${SOCKET_PATHS[way]}`, query, headers)
    case 'get':
      return askHttp(`${url}/graphql?query=${encodeURIComponent(query)}`, undefined, {
        ...headers,
        'x-graphql-yoga-csrf': '1',
      })
    case 'batch': {
      const answer = await askHttp(`${url}/graphql`, [{ query }, { query: '{ __typename }' }], headers)
      return Array.isArray(answer) ? { ...(answer[0] as Answer) } : answer
    }
    case 'sse':
      return askHttp(`${url}/graphql`, { query }, { ...headers, accept: 'text/event-stream' })
    case 'post':
      return askHttp(`${url}/graphql`, { query }, headers, signal)
  }
}

async function askHttp(
  url: string,
  body: object | undefined,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<Answer> {
  const response = await requestMultipart(url, {
    headers: { accept: 'application/json', ...headers },
    ...(body && { body }),
  })
  signal?.addEventListener('abort', () => response.abort())
  const text = await response.text(PATIENCE_MS)
  const cache = response.headers['x-cache']?.toString()
  const parsed = (
    headers['accept'] === 'text/event-stream' && response.headers['content-type']?.includes('event-stream')
      ? eventOf(text)
      : JSON.parse(text)
  ) as Answer
  return Array.isArray(parsed) ? (parsed as Answer) : { ...parsed, ...(cache !== undefined && { cache }) }
}

function eventOf(text: string): unknown {
  const data = /^event: ?next\ndata: ?(.*)$/m.exec(text)?.[1]
  if (data === undefined) throw new Error(`No event in ${text}`)
  return JSON.parse(data)
}

async function askSocket(
  url: string,
  query: string,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  await using socket = await connectRawWebSocket(url, { headers })
  socket.sendJson({ type: 'connection_init' })
  await socket.nextJson(PATIENCE_MS)
  socket.sendJson({ id: '1', type: 'subscribe', payload: { query } })
  const { type, payload } = await socket.nextJson(PATIENCE_MS)
  return type === 'error' ? { errors: payload } : payload
}
