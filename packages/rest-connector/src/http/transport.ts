import { createRequire } from 'node:module'
import type * as Undici from 'undici'
import type { Dispatcher, Pool } from 'undici'
import type { Ending } from './ending.ts'
import { ResponseTooLarge } from './failures.ts'

export interface WireRequest {
  readonly method: string
  /** Only when it is not the connector's own. */
  readonly origin?: string | undefined
  /** Path and query, as they go on the wire. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export interface WireResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

export interface Transport {
  /**
   * Sends one request and reads its answer to the end, so that the connection can be used again.
   * `onHeaders` is called when the response's headers are there.
   */
  send(request: WireRequest, ending: Ending, onHeaders?: () => void): Promise<WireResponse>
  close(): Promise<void>
}

export interface TransportOptions {
  readonly origin: string
  readonly maxResponseBytes: number
  readonly maxConnections: number
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Not before it is asked for: in a bundle for another platform there is no file to start from. */
const load = (id: string): unknown => createRequire(import.meta.url)(id)

/** All of undici, where the pool is not enough. */
const loadUndici = (): typeof Undici => load('undici') as typeof Undici

/**
 * The pool alone: undici's index also brings fetch, WebSocket, caches and mocks, a hundred modules that nothing here
 * uses, and replaces the dispatcher of the global fetch.
 */
function createPool(origin: string, settings: Pool.Options): Pool {
  const Implementation = load('undici/lib/dispatcher/pool.js') as typeof Pool
  return new Implementation(origin, settings)
}

/** One undici pool for the connector's origin. The only file that knows the HTTP client. */
export function createTransport(options: TransportOptions): Transport {
  const { origin, maxResponseBytes, maxConnections, env } = options
  // Deadlines are the connector's business: one ending stops an attempt, whatever it waits for.
  const settings = { headersTimeout: 0, bodyTimeout: 0, connectTimeout: 10_000, connections: maxConnections }
  const proxy = createProxy(env, settings)
  const pool = proxy ?? createPool(origin, settings)
  let others: Dispatcher | undefined

  return {
    send(request, ending, onHeaders) {
      const isForeign = request.origin !== undefined && request.origin !== origin
      if (isForeign) others ??= proxy ?? new (loadUndici().Agent)(settings)
      const dispatcher = (isForeign && others) || pool
      return sendOn(
        dispatcher,
        { ...request, origin: request.origin ?? origin },
        {
          ending,
          onHeaders,
          maxResponseBytes,
        },
      )
    },
    async close() {
      await Promise.all([pool.destroy(), others?.destroy()])
    },
  }
}

function createProxy(
  env: TransportOptions['env'],
  settings: { readonly headersTimeout: number; readonly bodyTimeout: number },
): Dispatcher | undefined {
  const httpProxy = env['http_proxy'] ?? env['HTTP_PROXY']
  const httpsProxy = env['https_proxy'] ?? env['HTTPS_PROXY']
  if (!httpProxy && !httpsProxy) return undefined
  const noProxy = env['no_proxy'] ?? env['NO_PROXY'] ?? ''
  const { EnvHttpProxyAgent } = loadUndici()
  return new EnvHttpProxyAgent({
    ...settings,
    noProxy,
    ...(httpProxy && { httpProxy }),
    ...(httpsProxy && { httpsProxy }),
  })
}

interface Exchange {
  readonly ending: Ending
  readonly onHeaders: (() => void) | undefined
  readonly maxResponseBytes: number
}

function sendOn(
  dispatcher: Dispatcher,
  { origin, method, path, headers, body }: WireRequest,
  { ending, onHeaders, maxResponseBytes }: Exchange,
): Promise<WireResponse> {
  return new Promise((resolve, reject) => {
    if (ending.hasEnded) {
      reject(ending.reason as Error)
      return
    }
    let controller: Dispatcher.DispatchController | undefined
    let status = 0
    let answer: WireResponse['headers'] = {}
    let size = 0
    const chunks: Buffer[] = []

    const letGo = ending.onEnd(() => {
      controller?.abort(ending.reason as Error)
      reject(ending.reason as Error)
    })

    dispatcher.dispatch(
      {
        origin: origin ?? '',
        method: method as Dispatcher.HttpMethod,
        path,
        headers: headers as Record<string, string>,
        body: body ?? null,
      },
      {
        onRequestStart(started) {
          controller = started
          if (ending.hasEnded) started.abort(ending.reason as Error)
        },
        onResponseStart(_, statusCode, responseHeaders) {
          status = statusCode
          answer = responseHeaders
          onHeaders?.()
        },
        onResponseData(running, chunk) {
          size += chunk.length
          if (size > maxResponseBytes) running.abort(new ResponseTooLarge(maxResponseBytes))
          else chunks.push(chunk)
        },
        onResponseEnd() {
          const whole = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size)
          letGo()
          resolve({ status, headers: answer, body: whole })
        },
        onResponseError(_, error) {
          letGo()
          reject(error)
        },
      },
    )
  })
}
