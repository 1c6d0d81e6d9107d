import { single } from '../../http/decode.ts'
import type { RestResponse } from '../../http/attempt.ts'

type Headers = RestResponse['headers']

const NOT_KEPT = ['no-store', 'no-cache', 'private']

/**
 * Milliseconds for which a response may be given out again, at most `ttlMs`; 0: not at all. Source: RFC 9111, for a
 * cache that is no shared one in the sense of `s-maxage`, and that cannot ask again whether a response still holds.
 * What is `private` is not kept either, as requests without credentials of their own share answers.
 */
export function freshnessOf(
  { headers }: Pick<RestResponse, 'headers'>,
  ttlMs: number,
  now: number,
  isInKey: (header: string) => boolean,
): number {
  const directives = parseDirectives(headers)
  if (NOT_KEPT.some((name) => directives.has(name)) || !isCovered(headers, isInKey)) return 0
  const lifetime = lifetimeOf(directives, headers, now)
  if (lifetime === undefined) return ttlMs
  return Math.max(0, Math.min(ttlMs, lifetime - ageOf(headers, now)))
}

/** Milliseconds since the origin made the response: what caches on the way counted, or its own `Date` if that is more (section 4.2.3). */
function ageOf(headers: Headers, now: number): number {
  const counted = (wholeSeconds(single(headers['age'])) ?? 0) * 1000
  const apparent = now - (httpDate(single(headers['date'])) ?? now)
  return Math.max(counted, apparent)
}

/** Milliseconds by what the response says; undefined: it says nothing. */
function lifetimeOf(
  directives: ReadonlyMap<string, string>,
  headers: Headers,
  now: number,
): number | undefined {
  const maxAge = directives.get('max-age')
  // A value that is no number is taken for stale (section 4.2.1).
  if (maxAge !== undefined) return (wholeSeconds(maxAge) ?? 0) * 1000
  const expires = single(headers['expires'])
  if (expires === undefined) return undefined
  const date = httpDate(single(headers['date']))
  return (httpDate(expires) ?? 0) - (date ?? now)
}

/**
 * Milliseconds since the epoch; undefined: not an IMF-fixdate (RFC 9110, section 5.6.7). `Date.parse` alone would read
 * `3600` as a year, and a response that is to be stale (RFC 9111, section 5.3) as one that holds for centuries. The
 * two obsolete forms, which no server may send, count as no date.
 */
function httpDate(text: string | undefined): number | undefined {
  const date = new Date(text ?? '')
  return !Number.isNaN(date.getTime()) && date.toUTCString() === text ? date.getTime() : undefined
}

/** Whether everything that the response varies with is part of the key it is kept under. */
function isCovered(headers: Headers, isInKey: (header: string) => boolean): boolean {
  const names = listOf(headers['vary']).map((name) => name.toLowerCase())
  return names.every((name) => name !== '*' && isInKey(name))
}

/** Names in lower case. Of a directive that comes twice the first counts. */
function parseDirectives(headers: Headers): Map<string, string> {
  const directives = new Map<string, string>()
  for (const directive of listOf(headers['cache-control'])) {
    const [name = '', value = ''] = directive.split(/\s*=\s*/, 2)
    const key = name.toLowerCase()
    if (!directives.has(key)) directives.set(key, value.replaceAll('"', ''))
  }
  return directives
}

/** The members of a header that is a list; commas in quoted strings are none of its own. */
function listOf(header: string | string[] | undefined): string[] {
  const text = [header ?? []].flat().join(',')
  return (text.match(/(?:"(?:\\.|[^"\\])*"|[^,"])+/g) ?? [])
    .map((member) => member.trim())
    .filter((member) => member !== '')
}

function wholeSeconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}
