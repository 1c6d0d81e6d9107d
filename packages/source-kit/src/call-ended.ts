/** What an observer of calls may give as a call begins: it is called with the outcome as the call ends. */
export interface CallEnded<Outcome> {
  (outcome: Outcome): void
  /** Go with the call, gRPC's as metadata, in place of those of the same names. Names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sends the call, so that it is sent in a context of the observer's. */
  readonly within?: (<T>(send: () => T) => T) | undefined
}
