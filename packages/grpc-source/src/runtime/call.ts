import { type Abortable, type Clock, sleep } from '@vinyasa/core'
import type { CallEnded } from '@vinyasa/source-kit'
import {
  GrpcCallError,
  type StatusName,
  type MetadataEntries,
  type Transport,
  type TransportCall,
} from '@vinyasa/grpc-transport'
import { FAULTS } from './faults.ts'

export interface RetryOptions {
  /** Maximum number of attempts after the first. Only queries with the status UNAVAILABLE are retried. Default 2; 0: none. */
  readonly maxRetries?: number | undefined
  /** First wait in milliseconds. It doubles with each retry, with jitter. Default 50. */
  readonly initialBackoffMs?: number | undefined
  /** Longest wait in milliseconds. Default 500. */
  readonly maxBackoffMs?: number | undefined
}

/** Information about a call for observers. */
export interface ObservedCall {
  readonly source: string
  /** `package.Service` */
  readonly service: string
  readonly method: string
  readonly kind: 'unary' | 'stream'
  /** The GraphQL context of the operation, or undefined. */
  readonly context: unknown
}

export interface ObservedEnd {
  readonly status: StatusName
  /** The reason of a failure, for operators. It can contain addresses, but never the backend's message. */
  readonly reason?: string | undefined
  /** Whether the backend is reachable. Undefined if the client side ended the call. */
  readonly isReached: boolean | undefined
  readonly durationMs: number
  /** Number of attempts. It is 1 without retries. */
  readonly attempts: number
  /** The call is CANCELLED because its callers ended a subscription or abandoned a request. */
  readonly callerLeft: boolean
}

/** Called when a call starts. A returned function is called when the call ends. Exceptions are ignored. */
export type CallObserver = (call: ObservedCall) => CallEnded<ObservedEnd> | void

/** A call that has ended, with the metadata of its reply. */
export interface ObservedReply extends ObservedCall {
  readonly status: StatusName
  /** Metadata before the first message of the last attempt. */
  readonly headers: MetadataEntries
  /** Metadata at the end of the last attempt. */
  readonly trailers: MetadataEntries
}

/** Called when a call has ended. Exceptions are ignored. */
export type OnReply = (reply: ObservedReply) => void

/** One call, ready to send. */
export interface OutgoingCall extends Pick<
  TransportCall,
  'caller' | 'keepReply' | 'onHeaders' | 'onTrailers'
> {
  readonly path: string
  readonly request: Uint8Array
  readonly metadata: MetadataEntries
  /** The deadline by the clock, or undefined for no limit. */
  readonly deadline: number | undefined
  readonly signal: Abortable | undefined
  /** Maximum number of attempts after the first. */
  readonly maxRetries: number
}

export type Caller = (
  transport: Transport<Abortable>,
  call: OutgoingCall,
  onAttempt?: () => void,
) => Promise<Uint8Array>

/** Creates a caller that retries unary calls to an unavailable backend, within the deadline and a budget. */
export function createCaller(options: {
  readonly clock: Clock
  readonly random: () => number
  readonly retry: RetryOptions | undefined
}): Caller {
  const { clock, random } = options
  const { initialBackoffMs = 50, maxBackoffMs = 500 } = options.retry ?? {}
  // Like gRPC's retry throttling, so that retries do not add load to a failing backend.
  const maxTokens = 20
  let tokens = maxTokens

  return async (transport, call, onAttempt) => {
    for (let attempt = 0; ; attempt++) {
      const timeoutMs = call.deadline === undefined ? undefined : call.deadline - clock.now()
      if (timeoutMs !== undefined && timeoutMs <= 0) {
        throw new GrpcCallError(
          'DEADLINE_EXCEEDED',
          `the deadline of the operation passed before attempt ${attempt + 1} of the call was sent`,
          { wasSent: attempt > 0 },
        )
      }
      onAttempt?.()
      try {
        const reply = await transport.unary({ ...call, timeoutMs }, call.request)
        tokens = Math.min(maxTokens, tokens + 0.1)
        return reply
      } catch (error) {
        if (!mayRetry(error) || attempt >= call.maxRetries) throw error
        tokens = Math.max(0, tokens - 1)
        if (tokens <= maxTokens / 2) throw error
        const longest = Math.min(maxBackoffMs, initialBackoffMs * 2 ** attempt)
        const pause = longest * (0.5 + random() / 2)
        if (call.deadline !== undefined && clock.now() + pause >= call.deadline) throw error
        await sleep(clock, pause, call.signal)
        if (call.signal?.aborted)
          throw new GrpcCallError('CANCELLED', 'the call was cancelled before the next attempt')
      }
    }
  }
}

function mayRetry(error: unknown): boolean {
  return error instanceof GrpcCallError && error.retryable && FAULTS[error.status].isRetried
}
