import type { CallEnded } from '@vinyasa/source-kit'

/** How calls of one kind of source are named. */
export interface CallKind {
  /** The kind's own name. */
  readonly name: string
  spanName(source: string, call: string): string
  spanAttributes(call: string): Readonly<Record<string, string>>
  /** The attribute of a span that holds how a call ended, by OpenTelemetry's conventions. */
  readonly statusAttribute: string
}

/** One request or RPC that is sent to a backend. */
export interface BackendCall {
  /** Its key in the config. */
  readonly source: string
  readonly kind: CallKind
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

/** Told of each call as it begins; what it may return is told of the end. Never throws. */
export type ObserveBackendCall = (call: BackendCall) => CallEnded<BackendCallEnd> | undefined

/** One observer for several. */
export function observeAll(observers: readonly ObserveBackendCall[]): ObserveBackendCall {
  return (call) => {
    const told = observers.map((observe) => observe(call)).filter((ended) => ended !== undefined)
    if (told.length < 2) return told[0]
    // One at most says how a call is sent.
    const sends = told.find(({ headers }) => headers)
    const all = (outcome: BackendCallEnd): void => {
      for (const ended of told) ended(outcome)
    }
    return sends ? Object.assign(all, { headers: sends.headers, within: sends.within }) : all
  }
}

/** Returns an end that is told in other words. */
export function endedBy<Outcome>(
  ended: CallEnded<BackendCallEnd> | undefined,
  inOurWords: (outcome: Outcome) => BackendCallEnd,
): CallEnded<Outcome> {
  const { headers, within } = ended ?? {}
  const told = (outcome: Outcome): void => {
    const end = inOurWords(outcome)
    ended?.(end)
  }
  return headers ? Object.assign(told, { headers, within }) : told
}
