interface Marked {
  readonly liveQuery?: { readonly moment?: unknown } | undefined
}

/** Returns whether a context belongs to a run of a live query, which live-query marks with an object. */
export function isLiveRun(context: unknown): boolean {
  return Boolean((context as Marked | null | undefined)?.liveQuery)
}

/**
 * Returns a string that is equal for runs of live queries with no invalidation event between them. They can share
 * results of reads that began in any of these runs. Returns `undefined` for other contexts.
 */
export function liveMomentOf(context: unknown): string | undefined {
  const moment = (context as Marked | null | undefined)?.liveQuery?.moment
  return typeof moment === 'string' ? moment : undefined
}

/** Returns whether a context belongs to an operation on a WebSocket or to a run of a live query. */
export function isNotFromHttp(context: object): boolean {
  return 'connectionParams' in context || isLiveRun(context)
}
