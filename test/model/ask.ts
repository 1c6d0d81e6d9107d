import { connectRawWebSocket, requestMultipart } from '@vinyasa/test-kit'
import type { SharedCache } from './shared-cache.ts'
import type { Operation, UserHeaders, Way } from './plan.ts'
import { textOf } from './shapes.ts'

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
  operation: Operation,
  headers: UserHeaders & Readonly<Record<string, string>>,
  way: Way,
  signal?: AbortSignal,
  shared?: SharedCache,
): Promise<Answer> {
  const { variables } = operation
  const sent = { query: textOf(operation), ...(variables && { variables }) }
  switch (way) {
    case 'graphql socket':
    case 'live socket':
      return askSocket(`${url}${SOCKET_PATHS[way]}`, sent, headers)
    case 'get':
      return askHttp(
        `${url}/graphql?${new URLSearchParams({ query: sent.query, variables: JSON.stringify(variables ?? {}) }).toString()}`,
        undefined,
        {
          ...headers,
          'x-graphql-yoga-csrf': '1',
        },
      )
    case 'shared get': {
      const query = new URLSearchParams({ query: sent.query, variables: JSON.stringify(variables ?? {}) })
      const { text, cache } = await shared!.get(`${url}/graphql?${query.toString()}`, {
        accept: 'application/json',
        ...headers,
        'x-graphql-yoga-csrf': '1',
      })
      return { ...(JSON.parse(text) as Answer), ...(cache !== undefined && { cache }) }
    }
    case 'batch': {
      const answer = await askHttp(`${url}/graphql`, [sent, { query: '{ __typename }' }], headers)
      return Array.isArray(answer) ? { ...(answer[0] as Answer) } : answer
    }
    case 'sse':
      return askHttp(`${url}/graphql`, sent, { ...headers, accept: 'text/event-stream' })
    case 'post':
      return askHttp(`${url}/graphql`, sent, headers, signal)
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
  payload: object,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  await using socket = await connectRawWebSocket(url, { headers })
  socket.sendJson({ type: 'connection_init' })
  await socket.nextJson(PATIENCE_MS)
  socket.sendJson({ id: '1', type: 'subscribe', payload })
  const answer = await socket.nextJson(PATIENCE_MS)
  return answer.type === 'error' ? { errors: answer.payload } : answer.payload
}
