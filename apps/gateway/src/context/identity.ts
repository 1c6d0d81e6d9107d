import { createAttachment } from '@vinyasa/core'

/**
 * The person or program that asks, as a verified token describes it. All requests with the token share it: code that needs
 * other values for one request replaces `context.auth` with a copy.
 */
export interface Identity {
  /** The token's claims (RFC 7519, section 4). */
  readonly claims: Readonly<Record<string, unknown>>
  readonly scopes: ReadonlySet<string>
  /** When the token ends, the tolerance for clocks included: milliseconds since 1970. */
  readonly expiresAt: number
}

/** Returns the identity that a context of the gateway has; undefined: nobody is known to ask. */
export function identityOf(context: object): Identity | undefined {
  return (context as { readonly auth?: Identity | undefined }).auth
}

const verified = createAttachment<true>()

/** Marks an identity as made from a verified token, so that {@link oncePerToken} keeps values for it. */
export function markVerified(identity: Identity): Identity {
  verified.set(identity, true)
  return identity
}

/**
 * Returns a function that computes a value from an identity once per verified token. The value must depend on the
 * identity only. It is released with the identity: when the token expires, leaves the token cache, or is verified again
 * because the keys of its issuer changed. Values for identities that other code sets are never kept.
 */
export function oncePerToken<Value extends NonNullable<unknown>>(
  compute: (identity: Identity) => Value,
): (identity: Identity) => Value {
  const known = createAttachment<Value>()
  return (identity) => {
    const kept = known.get(identity)
    if (kept !== undefined) return kept
    const value = compute(identity)
    if (verified.get(identity)) known.set(identity, value)
    return value
  }
}

/** The claim at a path: `sub`, `realm_access.roles`; a claim that has dots in its name is found under it. */
export function claimAt(claims: Identity['claims'], path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  let value: unknown = claims
  for (const name of path.split('.')) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

/** Texts in a claim: a list, or one text with spaces between them (RFC 8693, section 4.2). */
export function textsOf(claim: unknown): readonly string[] {
  if (typeof claim === 'string') return claim.split(' ').filter((text) => text !== '')
  return Array.isArray(claim) ? claim.filter((item) => typeof item === 'string') : []
}
