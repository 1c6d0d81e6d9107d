import type { ServerOptions } from 'node:http'
import type { ServerConfig } from './http-types.ts'

export type DeadlineOptions = Pick<
  ServerConfig,
  'headersTimeoutMs' | 'requestTimeoutMs' | 'answerTimeoutMs' | 'sendTimeoutMs' | 'keepAliveTimeoutMs'
>

/**
 * How long each stage of a request may take; 0: any time. With the end of a stage its places are free.
 *
 * | stage                                    | deadline             | over it                        | by               |
 * | ---------------------------------------- | -------------------- | ------------------------------ | ---------------- |
 * | the head arrives                         | `headersTimeoutMs`   | 408, closed                    | Node             |
 * | the body arrives                         | `requestTimeoutMs`   | 408, closed                    | Node             |
 * | it is parsed, admitted, executed, and the answer begins | `answerTimeoutMs` | 504, closed, cancelled | `late-answers.ts` |
 * | each byte of the answer leaves           | `sendTimeoutMs`      | closed                         | `slow-readers.ts` |
 * | a client that was answered before it had sent all goes on, and ends | 5 s | closed | `linger.ts` |
 * | the next request comes                   | `keepAliveTimeoutMs` | closed                         | `server.ts`      |
 */
export type Deadlines = { readonly [Name in keyof DeadlineOptions]-?: number }

export function deadlinesOf(options: DeadlineOptions): Deadlines {
  const { headersTimeoutMs = 10_000, answerTimeoutMs = 60_000, sendTimeoutMs = 30_000 } = options
  const { requestTimeoutMs = Math.max(30_000, headersTimeoutMs), keepAliveTimeoutMs = 5_000 } = options
  return { headersTimeoutMs, requestTimeoutMs, answerTimeoutMs, sendTimeoutMs, keepAliveTimeoutMs }
}

/** Returns the deadlines that Node watches over, for `createServer`. */
export function nodeDeadlines(deadlines: Deadlines): ServerOptions {
  const { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs } = deadlines
  return {
    // Node refuses to listen where a part may take longer than the whole.
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs || headersTimeoutMs),
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: lookEvery(headersTimeoutMs, requestTimeoutMs),
    keepAliveTimeout: keepAliveTimeoutMs,
  }
}

/** A deadline must be looked for more often than it is long. */
export function lookEvery(...deadlinesMs: readonly number[]): number {
  const shortest = Math.min(...deadlinesMs.filter((ms) => ms > 0), Number.POSITIVE_INFINITY)
  return Math.min(1_000, Math.max(20, shortest / 4))
}
