/** How calls of one kind of source are named. */
export interface CallKind {
  /** The kind's own name. */
  readonly name: string
  spanName(source: string, call: string): string
  spanAttributes(call: string): Readonly<Record<string, string>>
  /** The attribute of a span that holds how a call ended. */
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
