/** Function that an observer can return when a call starts. It is called with the outcome when the call ends. */
export interface CallEnded<Outcome> {
  (outcome: Outcome): void
  /**
   * Headers to add to the call, or metadata for gRPC. They replace headers of the same name. Names are lower case.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sends the call inside a context of the observer, such as an active trace span. */
  readonly within?: (<T>(send: () => T) => T) | undefined
}
