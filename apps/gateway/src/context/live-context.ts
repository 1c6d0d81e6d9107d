/** Whether a GraphQL context belongs to the run of a live query: live-query marks it with an object. */
export function isLive(context: unknown): boolean {
  return (
    typeof context === 'object' && context !== null && 'liveQuery' in context && Boolean(context.liveQuery)
  )
}

/** Whether a server context belongs to an operation on a WebSocket, or to the run of a live query. */
export function isNotFromHttp(context: object): boolean {
  return 'connectionParams' in context || 'liveQuery' in context
}
