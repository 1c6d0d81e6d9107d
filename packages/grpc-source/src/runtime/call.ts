import { type Abortable, type Clock, sleep } from '@vinyasa/base'
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
  /** Attempts after the first, only of queries, only on UNAVAILABLE. Default 2; 0: none. */
  readonly maxRetries?: number | undefined
  /** First pause; doubles, with jitter. Default 50. */
  readonly initialBackoffMs?: number | undefined
  /** Longest pause. Default 500. */
  readonly maxBackoffMs?: number | undefined
}

/** The facts that an observer learns of a call. */
export interface ObservedCall {
  readonly source: string
  /** `package.Service` */
  readonly service: string
  readonly method: string
  readonly kind: 'unary' | 'stream'
  /** The GraphQL context of the operation, if there is one. */
  readonly context: unknown
}

export interface ObservedEnd {
  readonly status: StatusName
  /** Why it failed, for operators: it may hold addresses, and never the backend's own text. */
  readonly reason?: string | undefined
  /** Whether the backend can be reached; undefined: the call was ended on this side. */
  readonly isReached: boolean | undefined
  readonly durationMs: number
  /** 1 without retries. */
  readonly attempts: number
  /** It is CANCELLED because those who asked want no reply any more: a subscription was ended, a request abandoned. */
  readonly callerLeft: boolean
}

/** Called when a call begins; what it returns is called when the call ends. Exceptions are ignored. */
export type CallObserver = (call: ObservedCall) => CallEnded<ObservedEnd> | void

/** A call that has ended, with what its reply brought beside messages. */
export interface ObservedReply extends ObservedCall {
  readonly status: StatusName
  /** Metadata before the first message: of the last attempt, as all of this. */
  readonly headers: MetadataEntries
  /** Metadata at the end. */
  readonly trailers: MetadataEntries
}

/** Told of every call that has ended. Exceptions are ignored. */
export type OnReply = (reply: ObservedReply) => void

/** One call, ready to send. */
export interface OutgoingCall extends Pick<
  TransportCall,
  'caller' | 'keepReply' | 'onHeaders' | 'onTrailers'
> {
  readonly path: string
  readonly request: Uint8Array
  readonly metadata: MetadataEntries
  /** When the call must be done, by the clock; undefined: no limit. */
  readonly deadline: number | undefined
  readonly signal: Abortable | undefined
  /** Attempts after the first. */
  readonly maxRetries: number
}

export type Caller = (
  transport: Transport<Abortable>,
  call: OutgoingCall,
  onAttempt?: () => void,
) => Promise<Uint8Array>

/** Sends unary calls again when a backend that is away may be back, within the deadline and a budget. */
export function createCaller(options: {
  readonly clock: Clock
  readonly random: () => number
  readonly retry: RetryOptions | undefined
}): Caller {
  const { clock, random } = options
  const { initialBackoffMs = 50, maxBackoffMs = 500 } = options.retry ?? {}
  // A backend that keeps failing is not asked more often for it, as with gRPC's retry throttling.
  const maxTokens = 20
  let tokens = maxTokens

  return async (transport, call, onAttempt) => {
    for (let attempt = 0; ; attempt++) {
      const timeoutMs = call.deadline === undefined ? undefined : call.deadline - clock.now()
      if (timeoutMs !== undefined && timeoutMs <= 0) {
        throw new GrpcCallError(
          'DEADLINE_EXCEEDED',
          'the time for the operation was up before the call could be sent',
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
          throw new GrpcCallError('CANCELLED', 'the caller went away between two attempts')
      }
    }
  }
}

function mayRetry(error: unknown): boolean {
  return error instanceof GrpcCallError && error.retryable && FAULTS[error.status].isRetried
}
