/**
 * Key under which the client of an operation is named, on the context or on its `req`. The value is a string, or on
 * the request also a function that returns the string. `null` means that several clients share the context, or that
 * the client is unknown.
 */
export const CLIENT: unique symbol = Symbol.for('vinyasa.client')

interface Named {
  readonly [CLIENT]?: unknown
  readonly req?: unknown
}

/** Names the client of a request and its operations. `clientOf` is called when the name is needed. */
export function nameClient<Request extends object>(
  request: Request,
  clientOf: (request: Request) => string,
): void {
  ;(request as { [CLIENT]?: unknown })[CLIENT] = clientOf
}

/** Returns the client of an operation; `undefined` if it has no name. */
export function clientOf(context: object): string | undefined {
  const { [CLIENT]: named, req } = context as Named
  if (named !== undefined) return nameIn(named)
  if (typeof req !== 'object' || req === null) return undefined
  const ofRequest = (req as Named)[CLIENT]
  return nameIn(typeof ofRequest === 'function' ? ofRequest(req) : ofRequest)
}

function nameIn(named: unknown): string | undefined {
  return typeof named === 'string' && named !== '' ? named : undefined
}

/**
 * Returns the owner of an operation's work for fair sharing: the client, or the context if the client has no name.
 * Returns `undefined` for work without an operation.
 */
export function ownerOf(context: unknown): unknown {
  return typeof context === 'object' && context !== null ? (clientOf(context) ?? context) : undefined
}

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
