import { OriginRefusedError } from '../errors.ts'
import type { Handshake } from './live-socket.ts'

/**
 * Which pages may open a socket: origins beside the server's own, patterns of them, `*` for any, or a function that says.
 */
export type AllowedOrigins = readonly (string | RegExp)[] | ((origin: string, headers: Headers) => boolean)

/** The request that is to be a socket. */
type OriginRequest = Pick<Handshake, 'headers' | 'encrypted'>

/** A host has 253 characters at most (RFC 1035): patterns are not tried on more. */
const MAX_ORIGIN_CHARACTERS = 300

/**
 * A browser shows the origin of the page that opens a socket (RFC 6455, section 10.2), and asks nobody whether it may:
 * the server has to look, as CORS has browsers do for requests. No origin: not a page. `null`: nobody knows whose.
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
    // Only what is true lets in: not the promise of an answer, either.
    if (typeof allowed === 'function') return allowed(given, request.headers) === true
    const origin = originOf(given) ?? given
    if (origins.has(origin) || fitsPattern(origin) || isOwn(given, request)) return true
    return origins.has('*') && !hasCredentials(request.headers)
  }
}

/** What is kept of pages that were refused: anybody may send any origin. */
const MAX_REPORTED = 10

/** Returns why a page is refused, and reports it once for each origin, ten at most. */
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
 * Whether the page came from this server, by the `Host` it sent: `X-Forwarded-Host` is whatever a client writes. Before
 * TLS that ends at a proxy the page's scheme is the proxy's.
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
 * Writes an origin as browsers do: in lower case, without a default port. Undefined for what is no origin of
 * a page on the web.
 */
function originOf(text: string): string | undefined {
  if (!/^https?:\/\/[^/?#@\\\s]+$/i.test(text) || !URL.canParse(text)) return undefined
  return new URL(text).origin
}

/** Looks for what a browser sends along by itself: `*` stands for pages that ask as nobody, as with CORS. */
function hasCredentials(headers: Headers): boolean {
  return headers.has('cookie') || headers.has('authorization')
}
