import type { RestResponse } from '../../http/attempt.ts'
import {
  httpDate,
  listOf,
  parseDirectives,
  single,
  wholeSeconds,
  type Directives,
} from '../../http/header-values.ts'

type Headers = RestResponse['headers']

/** How a kept response may be used; all in milliseconds from now, none more than the cache's own lifetime. */
export interface Reuse {
  /** Given out again without asking. */
  readonly freshMs: number
  /** Given out once more while the upstream is asked anew (RFC 5861, section 3). */
  readonly whileRevalidateMs: number
  /** Given out where the upstream fails (RFC 5861, section 4). */
  readonly ifErrorMs: number
  /** The headers that ask whether it still holds (RFC 9111, section 4.3.1); undefined: there are none. */
  readonly validators: Readonly<Record<string, string>> | undefined
}

/** Statuses that are kept although a response says nothing of how long: RFC 9110, section 15.1, of successes. */
const KEPT_STATUSES: ReadonlySet<number> = new Set([200, 203, 204])

/**
 * Returns how a response may be used again; undefined: not at all, and it is not kept. The rules are those of
 * RFC 9111, for a cache that is no shared one in the sense of `s-maxage`. A `private` response is not kept
 * either, as requests without credentials of their own share answers, and a directive for some fields only is
 * taken for one about all of the response.
 */
export function reuseOf(
  { status, headers }: Pick<RestResponse, 'status' | 'headers'>,
  ttlMs: number,
  now: number,
  isInKey: (header: string) => boolean,
): Reuse | undefined {
  const directives = parseDirectives(headers['cache-control'])
  // Everything that the response varies with has to be part of the key it is kept under.
  const isCovered = listOf(headers['vary']).every((name) => name !== '*' && isInKey(name.toLowerCase()))
  if (directives.has('no-store') || directives.has('private') || !isCovered) return undefined
  const lifetime = lifetimeOf(directives, headers, now)
  // Parts of a response are of no use alone.
  if (status === 206 || (lifetime === undefined && !KEPT_STATUSES.has(status))) return undefined
  const left = lifetime === undefined ? ttlMs : lifetime - ageOf(headers, now)
  const capped = (ms: number): number => Math.max(0, Math.min(ttlMs, ms))
  const isAlwaysAsked = directives.has('no-cache')
  const isNeverStale = isAlwaysAsked || directives.has('must-revalidate')
  const stale = (name: string): number => {
    const seconds = wholeSeconds(directives.get(name))
    return isNeverStale || seconds === undefined ? 0 : capped(left + seconds * 1000)
  }
  const reuse: Reuse = {
    freshMs: isAlwaysAsked ? 0 : capped(left),
    whileRevalidateMs: stale('stale-while-revalidate'),
    ifErrorMs: stale('stale-if-error'),
    validators: ttlMs > 0 ? validatorsOf(headers) : undefined,
  }
  const { freshMs, whileRevalidateMs, ifErrorMs, validators } = reuse
  return freshMs + whileRevalidateMs + ifErrorMs > 0 || validators ? reuse : undefined
}

/**
 * Milliseconds for which an answer made of this response may be kept by a cache that is shared, and told on to caches of
 * clients: the shortest of `s-maxage`, `max-age` and `Expires`. Undefined: the response says nothing.
 */
export function statedFreshMs({ headers }: Pick<RestResponse, 'headers'>, now: number): number | undefined {
  if (!headers['cache-control'] && !headers['vary'] && !headers['expires']) return undefined
  const directives = parseDirectives(headers['cache-control'])
  const isForbidden = ['no-store', 'private', 'no-cache'].some((name) => directives.has(name))
  if (isForbidden || listOf(headers['vary']).includes('*')) return 0
  const shared = directives.get('s-maxage')
  const lifetimes = [
    lifetimeOf(directives, headers, now) ?? Infinity,
    shared === undefined ? Infinity : (wholeSeconds(shared) ?? 0) * 1000,
  ]
  const lifetime = Math.min(...lifetimes)
  return lifetime === Infinity ? undefined : Math.max(0, lifetime - ageOf(headers, now))
}

/** Request headers by which an upstream can say that nothing has changed. */
function validatorsOf(headers: Headers): Reuse['validators'] {
  const etag = single(headers['etag'])
  const modified = single(headers['last-modified'])
  const validators = {
    ...(etag !== undefined && ENTITY_TAG.test(etag) && { 'if-none-match': etag }),
    ...(httpDate(modified) !== undefined && { 'if-modified-since': modified as string }),
  }
  return Object.keys(validators).length > 0 ? validators : undefined
}

const ENTITY_TAG = /^(W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/

/** Headers of one message, or of a body: those of a 304 say nothing of the body that is kept (section 3.2). */
const OF_ONE_MESSAGE = /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-.*)$/

/**
 * The kept response with the headers of a 304 that says it still holds (section 4.3.4); undefined: the 304 is about
 * another one.
 */
export function refreshed(kept: RestResponse, { headers }: RestResponse): RestResponse | undefined {
  const [ours, theirs] = [kept.headers, headers].map((one) => single(one['etag'])?.replace(/^W\//, ''))
  if (theirs !== undefined && theirs !== ours) return undefined
  const fresh = Object.entries(headers).filter(([name]) => !OF_ONE_MESSAGE.test(name))
  const { age: _, ...known } = kept.headers
  return { ...kept, headers: { ...known, ...Object.fromEntries(fresh) } }
}

/** Milliseconds since the origin made the response: what caches on the way counted, or its own `Date` if that is more (section 4.2.3). */
function ageOf(headers: Headers, now: number): number {
  const counted = (wholeSeconds(single(headers['age'])) ?? 0) * 1000
  const apparent = now - (httpDate(single(headers['date'])) ?? now)
  return Math.max(counted, apparent)
}

/** Milliseconds by what the response says; undefined: it says nothing. */
function lifetimeOf(directives: Directives, headers: Headers, now: number): number | undefined {
  const maxAge = directives.get('max-age')
  // A value that is no number is taken for stale (section 4.2.1).
  if (maxAge !== undefined) return (wholeSeconds(maxAge) ?? 0) * 1000
  const expires = single(headers['expires'])
  if (expires === undefined) return undefined
  const date = httpDate(single(headers['date']))
  return (httpDate(expires) ?? 0) - (date ?? now)
}
