import { OriginRefusedError } from '../errors.ts'
import type { Handshake } from './messages.ts'

/**
 * Origins whose pages can open a socket, in addition to the server's own origin: origins, patterns, `*` for any origin,
 * or a function.
 */
export type AllowedOrigins = readonly (string | RegExp)[] | ((origin: string, headers: Headers) => boolean)

/** An upgrade request. */
type OriginRequest = Pick<Handshake, 'headers' | 'encrypted'>

/** A host has at most 253 characters (RFC 1035), so patterns are not applied to longer strings. */
const MAX_ORIGIN_CHARACTERS = 300

/**
 * Creates the check of origins. A browser sends the origin of the page that opens a socket (RFC 6455, section 10.2),
 * but does not check it, unlike with CORS. The server must therefore check it. Requests without `Origin` do not come
 * from a page. The origin `null` is unknown.
 */
export function createOriginCheck(allowed: AllowedOrigins): (request: OriginRequest) => boolean {
  const listed = typeof allowed === 'function' ? [] : allowed
  const texts = listed.filter((origin) => typeof origin === 'string')
  const origins = new Set(texts.map((origin) => originOf(origin) ?? origin))
  const patterns = listed.filter((origin) => typeof origin !== 'string')
  const fitsPattern = (origin: string): boolean =>
    origin.length <= MAX_ORIGIN_CHARACTERS && patterns.some((pattern) => origin.search(pattern) >= 0)
  return (request) => {
    const given = request.headers.get('origin')
    if (given === null) return true
    // Only `true` accepts. A promise does not.
    if (typeof allowed === 'function') return allowed(given, request.headers) === true
    const origin = originOf(given) ?? given
    if (origins.has(origin) || fitsPattern(origin) || isOwn(given, request)) return true
    return origins.has('*') && !hasCredentials(request.headers)
  }
}

/** Maximum number of reported origins, because clients can send any origin. */
const MAX_REPORTED = 10

/** Returns the reason for the refusal of a page. It is reported once for each origin, and for at most ten origins. */
export function createOriginRefusal(onError: (error: unknown) => void): (request: OriginRequest) => string {
  const reported = new Set<string>()
  return ({ headers }) => {
    const origin = (headers.get('origin') ?? '').slice(0, MAX_ORIGIN_CHARACTERS)
    const error = new OriginRefusedError(origin)
    if (!reported.has(origin) && reported.size < MAX_REPORTED) {
      reported.add(origin)
      onError(error)
    }
    return error.message
  }
}

/**
 * Returns whether the page has the server's own origin, according to `Host`. `X-Forwarded-Host` is not used, because
 * clients can set it. If a proxy terminates TLS, the scheme of the page is that of the proxy.
 */
function isOwn(given: string, { headers, encrypted }: OriginRequest): boolean {
  const origin = originOf(given)
  const host = headers.get('host')
  if (origin === undefined || host === null) return false
  const { protocol } = new URL(origin)
  if (encrypted && protocol !== 'https:') return false
  return originOf(`${protocol}//${host}`) === origin
}

/**
 * Returns an origin as browsers send it: in lower case and without the default port. Returns `undefined` for other
 * strings.
 */
function originOf(text: string): string | undefined {
  if (!/^https?:\/\/[^/?#@\\\s]+$/i.test(text) || !URL.canParse(text)) return undefined
  return new URL(text).origin
}

/**
 * Returns whether the request has credentials that browsers add automatically. `*` matches only pages without
 * credentials, as with CORS.
 */
function hasCredentials(headers: Headers): boolean {
  return headers.has('cookie') || headers.has('authorization')
}
