import { Pool, type Dispatcher } from 'undici'
import { ResponseTooLarge } from './failures.ts'

export interface WireRequest {
  readonly method: string
  /** Path and query, as they go on the wire. */
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string | undefined
}

export interface WireResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

export interface Transport {
  /** Sends one request and reads its answer to the end, so that the connection can be used again. */
  send(request: WireRequest, signal: AbortSignal): Promise<WireResponse>
  close(): Promise<void>
}

export interface TransportOptions {
  readonly origin: string
  readonly maxResponseBytes: number
}

/** One undici pool for one origin. The only file that knows the HTTP client. */
export function createTransport({ origin, maxResponseBytes }: TransportOptions): Transport {
  // Deadlines are the connector's business: one signal ends an attempt, whatever it waits for.
  const pool = new Pool(origin, { headersTimeout: 0, bodyTimeout: 0, connectTimeout: 10_000 })
  return {
    send: (request, signal) => sendOn(pool, request, signal, maxResponseBytes),
    close: () => pool.destroy(),
  }
}

function sendOn(
  dispatcher: Dispatcher,
  { method, path, headers, body }: WireRequest,
  signal: AbortSignal,
  maxBytes: number,
): Promise<WireResponse> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error)
      return
    }
    let controller: Dispatcher.DispatchController | undefined
    let status = 0
    let answer: WireResponse['headers'] = {}
    let size = 0
    const chunks: Buffer[] = []

    const onAbort = (): void => {
      controller?.abort(signal.reason as Error)
      finish(() => reject(signal.reason as Error))
    }
    const finish = (settle: () => void): void => {
      signal.removeEventListener('abort', onAbort)
      settle()
    }
    signal.addEventListener('abort', onAbort, { once: true })

    dispatcher.dispatch(
      { method: method as Dispatcher.HttpMethod, path, headers, body: body ?? null },
      {
        onRequestStart(started) {
          controller = started
          if (signal.aborted) started.abort(signal.reason as Error)
        },
        onResponseStart(_, statusCode, responseHeaders) {
          status = statusCode
          answer = responseHeaders
        },
        onResponseData(running, chunk) {
          size += chunk.length
          if (size > maxBytes) running.abort(new ResponseTooLarge(maxBytes))
          else chunks.push(chunk)
        },
        onResponseEnd() {
          const whole = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size)
          finish(() => resolve({ status, headers: answer, body: whole }))
        },
        onResponseError(_, error) {
          finish(() => reject(error))
        },
      },
    )
  })
}
