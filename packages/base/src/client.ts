/**
 * The member of a context, or of the request that is its `req`, under which whoever opened the door names the client that
 * asks: a text, or on the request a function of it. `null`: several ask, or nobody knows who.
 */
export const CLIENT: unique symbol = Symbol.for('vinyasa.client')

interface Named {
  readonly [CLIENT]?: unknown
  readonly req?: unknown
}

/** Names the client of all that comes of a request: `clientOf` is called when somebody must know. */
export function nameClient<Request extends object>(
  request: Request,
  clientOf: (request: Request) => string,
): void {
  ;(request as { [CLIENT]?: unknown })[CLIENT] = clientOf
}

/** The client that asks for an operation; undefined where nobody has named one. */
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

/** Whose share work of an operation takes: its client's, else its own; undefined for what no operation asks for. */
export function ownerOf(context: unknown): unknown {
  return typeof context === 'object' && context !== null ? (clientOf(context) ?? context) : undefined
}
