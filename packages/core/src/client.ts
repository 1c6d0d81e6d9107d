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
