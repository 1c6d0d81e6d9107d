/** Whether a context belongs to a run of a live query: live-query marks it with an object. */
export function isLiveRun(context: unknown): boolean {
  return Boolean((context as { readonly liveQuery?: unknown } | null | undefined)?.liveQuery)
}

/** Whether a server's context belongs to an operation on a WebSocket, or to a run of a live query. */
export function isNotFromHttp(context: object): boolean {
  return 'connectionParams' in context || isLiveRun(context)
}
