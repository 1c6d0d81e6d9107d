import { headerList } from '@vinyasa/core'

/** Directives of `Cache-Control` by their names in lower case. */
export type Directives = ReadonlyMap<string, string>

/** Parses `Cache-Control`; of a directive that comes twice, the first counts. */
export function parseDirectives(header: string | string[] | undefined): Directives {
  const directives = new Map<string, string>()
  for (const directive of listOf(header)) {
    const [name = '', value = ''] = directive.split('=', 2).map((part) => part.trim())
    const key = name.toLowerCase()
    if (!directives.has(key)) directives.set(key, value.replaceAll('"', ''))
  }
  return directives
}

/** A header that should come once; of several the first. */
export function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

/** The members of a header that is a list and can come several times. */
export function listOf(header: string | string[] | undefined): string[] {
  return headerList([header ?? []].flat().join(',')).filter((member) => member !== '')
}

/**
 * Milliseconds since the epoch; undefined: not an IMF-fixdate (RFC 9110, section 5.6.7). `Date.parse` alone would read
 * `3600` as a year, and a response that is to be stale (RFC 9111, section 5.3) as one that holds for centuries. The
 * two obsolete forms, which no server may send, count as no date.
 */
export function httpDate(text: string | undefined): number | undefined {
  const date = new Date(text ?? '')
  return !Number.isNaN(date.getTime()) && date.toUTCString() === text ? date.getTime() : undefined
}

export function wholeSeconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}
