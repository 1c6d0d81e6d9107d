import type { AccessSections, IssuerConfig, JwtConfig } from '../access-types.ts'
import type { HttpSections } from '../../http/http-types.ts'
import type { PresetSections } from '../../presets.ts'
import { mistakeAt } from '../../errors.ts'
import { tokenHeaders } from './token-place.ts'

/** Throws `ConfigError` for what of `auth` could never do what it says. */
type AuthSections = HttpSections & PresetSections & Pick<AccessSections, 'auth'>

export function checkAuth(config: AuthSections): void {
  const { jwt } = config.auth ?? {}
  if (!jwt) return
  const names = new Map<string, number>()
  for (const [index, issuer] of jwt.issuers.entries()) {
    const at = ['auth', 'jwt', 'issuers', index]
    const first = names.get(issuer.issuer)
    if (first !== undefined)
      throw mistakeAt(
        [...at, 'issuer'],
        `issuers[${first}] has the same issuer; merge the two entries (audience can be a list)`,
      )
    names.set(issuer.issuer, index)
    refuseBadKeys(at, issuer)
  }
  refuseOwnClaims(jwt)
  refuseCookiesWithoutCsrf(config)
}

function refuseBadKeys(
  at: readonly PropertyKey[],
  { issuer, jwksUri, secret, algorithms = [] }: IssuerConfig,
): void {
  if (secret !== undefined && jwksUri !== undefined)
    throw mistakeAt(
      at,
      `secret and jwksUri cannot be combined; remove jwksUri if tokens are signed with HS256, HS384 or HS512, otherwise remove secret`,
    )
  const wrong = algorithms.find((algorithm) => algorithm.startsWith('HS') !== (secret !== undefined))
  if (wrong !== undefined)
    throw mistakeAt(
      [...at, 'algorithms'],
      secret === undefined
        ? `${wrong} requires a secret, but the tokens are verified with public keys; set secret, or remove ${wrong}`
        : `${wrong} requires a public key, but a secret verifies only HS256, HS384 and HS512; replace secret with jwksUri, or remove ${wrong}`,
    )
  const [name, address] = jwksUri === undefined ? ['issuer', issuer] : ['jwksUri', jwksUri]
  if (secret !== undefined || /^https?:\/\/[^/]/.test(address)) return
  throw mistakeAt(
    [...at, name as string],
    `expected a URL that starts with "http://" or "https://", received "${address}"; set jwksUri to the URL of the JSON Web Key Set`,
  )
}

/** A token that a claim takes the place of could not be verified when a live query runs again. */
function refuseOwnClaims(jwt: JwtConfig): void {
  const own = tokenHeaders(jwt)
  const taken = Object.keys(jwt.forwardClaims ?? {}).find((header) => own.includes(header.toLowerCase()))
  if (taken !== undefined)
    throw mistakeAt(
      ['auth', 'jwt', 'forwardClaims'],
      `the header "${taken}" already carries the token; send the claim in a different header, for example x-user-id`,
    )
}

/** A browser sends cookies along whoever asks it to. */
function refuseCookiesWithoutCsrf({ auth, graphql, preset }: AuthSections): void {
  const isPrevented = graphql?.csrfPrevention ?? preset === 'production'
  if (auth?.jwt.cookie === undefined || isPrevented) return
  throw mistakeAt(
    ['auth', 'jwt', 'cookie'],
    'a token in a cookie allows cross-site request forgery; set graphql.csrfPrevention to true',
  )
}
