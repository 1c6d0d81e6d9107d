/** Algorithms for which a public key may be used. `none` is no algorithm. */
export const PUBLIC_KEY_ALGORITHMS: readonly string[] =
  'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')
/** Algorithms that take a secret. */
export const SECRET_ALGORITHMS: readonly string[] = ['HS256', 'HS384', 'HS512']
