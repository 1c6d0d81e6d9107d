/** The person or program that asks, as a verified token describes it. */
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
