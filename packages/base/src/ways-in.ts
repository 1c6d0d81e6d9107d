interface Marked {
  readonly liveQuery?: { readonly moment?: unknown } | undefined
}

/** Whether a context belongs to a run of a live query: live-query marks it with an object. */
export function isLiveRun(context: unknown): boolean {
  return Boolean((context as Marked | null | undefined)?.liveQuery)
}

/**
 * Equal for runs of live queries between which nothing was announced: what one of them reads from its beginning on is as new as the
 * others need it. Undefined for what is no such run.
 */
export function liveMomentOf(context: unknown): string | undefined {
  const moment = (context as Marked | null | undefined)?.liveQuery?.moment
  return typeof moment === 'string' ? moment : undefined
}

/** Whether a server's context belongs to an operation on a WebSocket, or to a run of a live query. */
export function isNotFromHttp(context: object): boolean {
  return 'connectionParams' in context || isLiveRun(context)
}
