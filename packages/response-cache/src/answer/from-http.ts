/** False for the operation of a WebSocket, where nothing here says for whom an answer would be, and for runs of live queries. */
export function isNotFromHttp(context: object): boolean {
  return 'connectionParams' in context || 'liveQuery' in context
}
