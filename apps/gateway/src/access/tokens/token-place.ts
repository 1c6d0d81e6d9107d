import type { AuthConfig, JwtConfig } from '../access-types.ts'
import { unauthenticated } from '../errors.ts'

type Place = Pick<JwtConfig, 'header' | 'scheme' | 'cookie'>

/** The header in which tokens stand, in lower case. */
function tokenHeader({ header = 'authorization' }: Place): string {
  return header.toLowerCase()
}

/** The headers in which tokens stand, in lower case. */
export function tokenHeaders(place: Place): readonly string[] {
  return [tokenHeader(place), ...(place.cookie === undefined ? [] : ['cookie'])]
}

/** Headers by which tokens tell callers apart, in lower case; where none are verified, code may read them itself. */
export function headersOfTokens(auth: AuthConfig | undefined): readonly string[] {
  return [...new Set(['authorization', ...(auth ? tokenHeaders(auth.jwt) : [])])]
}

/** The token of a request; undefined where there is none. Throws where its place holds something else. */
export function tokenOf(headers: Pick<Headers, 'get'>, place: Place): string | undefined {
  const { scheme = 'Bearer', cookie } = place
  const value = headers.get(tokenHeader(place))?.trim()
  if (value !== undefined && value !== '') return withoutScheme(value, scheme, tokenHeader(place))
  return cookie === undefined ? undefined : cookieNamed(cookie, headers.get('cookie'))
}

function withoutScheme(value: string, scheme: string, header: string): string {
  if (scheme === '') return value
  const end = value.indexOf(' ')
  let start = end
  while (value[start] === ' ') start++
  const token = value.slice(start)
  const isOneToken = end > 0 && !token.includes(' ')
  if (isOneToken && value.slice(0, end).toLowerCase() === scheme.toLowerCase()) return token
  throw unauthenticated(`The header "${header}" must have the form "${scheme} <token>".`, true)
}

/** RFC 6265, section 4.2.1. */
function cookieNamed(name: string, header: string | null): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=')
    if (equals < 0 || pair.slice(0, equals).trim() !== name) continue
    const value = pair
      .slice(equals + 1)
      .trim()
      .replace(/^"(.*)"$/, '$1')
    return value === '' ? undefined : value
  }
  return undefined
}
