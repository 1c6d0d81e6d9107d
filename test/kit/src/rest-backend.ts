import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface RecordedRequest {
  /** `performance.now()` when the whole request had arrived. */
  readonly at: number
  readonly method: string
  /** Path and query exactly as they came over the wire. */
  readonly rawUrl: string
  /** Decoded by WHATWG rules. */
  readonly url: URL
  /** Names in lower case. */
  readonly headers: IncomingMessage['headers']
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  /** Aborted when the client goes away before the answer is complete. */
  readonly signal: AbortSignal
  /** When it went away. */
  readonly cancelledAt: number | undefined
  json(): any
}

export interface RestAnswer {
  /** Default 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** Sent as JSON, with its Content-Type. */
  readonly json?: unknown
  /** Sent as it is; an iterable chunk by chunk. */
  readonly body?: string | Uint8Array | AsyncIterable<string | Uint8Array>
  /** Waits before the answer starts. */
  readonly delayMs?: number
  /** Writes the answer itself; the other settings do not matter then. */
  readonly write?: (response: ServerResponse, request: IncomingMessage) => unknown
}

export type RestHandler = (request: RecordedRequest) => RestAnswer | Promise<RestAnswer>

export interface RestBackend {
  readonly port: number
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  /** Every request so far, in order of arrival. */
  readonly requests: readonly RecordedRequest[]
  /** Connections accepted so far, reused ones counted once. */
  readonly connections: number
  /** Replaces the handler from the next request on. */
  handle(handler: RestHandler): void
  /** The next requests get these answers, in order, before the handler is asked again. */
  answerNext(...answers: readonly (RestAnswer | RestHandler)[]): void
  /** Ends every connection and stops listening. */
  stop(): Promise<void>
  /** Listens again on the same port. */
  restart(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts a real HTTP server that records all it gets. Without a handler it answers `{}`. */
export async function startRestBackend(
  handler: RestHandler = () => ({ json: {} }),
  options: { readonly port?: number } = {},
): Promise<RestBackend> {
  const requests: RecordedRequest[] = []
  const scripted: (RestAnswer | RestHandler)[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  let current = handler

  // Idle connections stay: a test that keeps its loop busy for Node's five seconds would send its next request on one that
  // ends at this moment, and see a reset that nobody meant.
  const server = createServer({ keepAliveTimeout: 600_000 }, (incoming, response) => {
    void serve(incoming, response).catch(() => response.destroy())
  })
  server.on('connection', (socket) => {
    connections++
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await record(incoming, response)
    requests.push(request)
    const answer = scripted.shift() ?? current
    await send(
      typeof answer === 'function' ? await answer(request) : answer,
      incoming,
      response,
      request.signal,
    )
  }

  function listen(port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject)
        resolve((server.address() as AddressInfo).port)
      })
    })
  }

  async function stop(): Promise<void> {
    if (!server.listening) return
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  }

  const port = await listen(options.port ?? 0)
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    requests,
    get connections() {
      return connections
    },
    handle: (next) => {
      current = next
    },
    answerNext: (...answers) => void scripted.push(...answers),
    stop,
    async restart() {
      await stop()
      await listen(port)
    },
    [Symbol.asyncDispose]: stop,
  }
}

async function record(incoming: IncomingMessage, response: ServerResponse): Promise<RecordedRequest> {
  const abort = new AbortController()
  let cancelledAt: number | undefined
  response.once('close', () => {
    if (response.writableFinished) return
    cancelledAt = performance.now()
    abort.abort()
  })
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  const rawUrl = incoming.url ?? ''
  return {
    at: performance.now(),
    method: incoming.method ?? '',
    rawUrl,
    url: new URL(rawUrl, 'http://localhost'),
    headers: incoming.headers,
    rawHeaders: incoming.rawHeaders,
    body,
    signal: abort.signal,
    get cancelledAt() {
      return cancelledAt
    },
    json: () => JSON.parse(body.toString('utf8')),
  }
}

async function send(
  answer: RestAnswer,
  incoming: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  if (answer.delayMs) await delay(answer.delayMs, signal)
  if (response.destroyed) return
  if (answer.write) {
    await answer.write(response, incoming)
    return
  }
  const isJson = answer.json !== undefined
  response.writeHead(answer.status ?? 200, {
    ...(isJson ? { 'content-type': 'application/json' } : {}),
    ...answer.headers,
  })
  const body = isJson ? JSON.stringify(answer.json) : (answer.body ?? '')
  if (typeof body === 'string' || body instanceof Uint8Array) {
    response.end(body)
    return
  }
  for await (const chunk of body) {
    if (response.destroyed) return
    response.write(chunk)
  }
  response.end()
}

function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}
