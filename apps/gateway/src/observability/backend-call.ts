import { keyed } from './tallies.ts'

/** One request or RPC that is sent to a backend. */
export interface BackendCall {
  /** Its key in the config. */
  readonly source: string
  readonly kind: 'grpc' | 'rest'
  /** `package.Service/Method`, or the name of an endpoint: never a path, which may hold arguments. */
  readonly name: string
  /** The GraphQL context of the operation, if it is sent for one. */
  readonly context: unknown
}

export interface BackendCallEnd {
  /** Name of the gRPC status, or the HTTP status, or `no answer`. */
  readonly status: string
  /** The backend did not do what it was asked; one whose caller left was not let. */
  readonly failed: boolean
  /** How often it was sent again. */
  readonly retries: number
}

/** Told of each call as it begins; the function that it may return is told of the end. Never throws. */
export type ObserveBackendCall = (call: BackendCall) => ((end: BackendCallEnd) => void) | undefined

/** One observer for several. */
export function observeAll(observers: readonly ObserveBackendCall[]): ObserveBackendCall {
  return (call) => {
    let told: ((end: BackendCallEnd) => void)[] | undefined
    for (const observe of observers) {
      const ended = observe(call)
      if (ended) (told ??= []).push(ended)
    }
    if (!told || told.length === 1) return told?.[0]
    const ends = told
    return (end) => {
      for (const ended of ends) ended(end)
    }
  }
}

interface GrpcCall {
  readonly source: string
  readonly service: string
  readonly method: string
  readonly context: unknown
}

/** For the `observe` option of a gRPC source. */
export function forGrpc(
  observe: ObserveBackendCall,
): (
  call: GrpcCall,
) => (end: { readonly status: string; readonly attempts: number; readonly callerLeft: boolean }) => void {
  // Made once: whoever looks a call up by a text that is put together anew has it hashed anew.
  const nameOf = keyed((service: string) => keyed((method: string) => `${service}/${method}`))
  return ({ source, service, method, context }) => {
    const ended = observe({ source, kind: 'grpc', name: nameOf(service)(method), context })
    return ({ status, attempts, callerLeft }) =>
      ended?.({ status, failed: status !== 'OK' && !callerLeft, retries: Math.max(0, attempts - 1) })
  }
}

interface RestAttempt {
  readonly connector: string
  readonly endpoint: string
  readonly attempt: number
  readonly context: unknown
}

interface RestAttemptEnd {
  readonly status?: number | undefined
  readonly error?: unknown
  readonly callerLeft?: boolean | undefined
}

/** For the `observe` option of a REST connector, which is told of each attempt. */
export function forRest(observe: ObserveBackendCall): (call: RestAttempt) => (end: RestAttemptEnd) => void {
  return ({ connector, endpoint, attempt, context }) => {
    const ended = observe({ source: connector, kind: 'rest', name: endpoint, context })
    return ({ status, error, callerLeft = false }) =>
      ended?.({
        status: status === undefined ? 'no answer' : String(status),
        failed: error !== undefined && !callerLeft,
        retries: attempt > 1 ? 1 : 0,
      })
  }
}
