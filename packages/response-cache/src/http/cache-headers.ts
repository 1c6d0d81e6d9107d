import { createAttachment } from '@vinyasa/core'
import type { CacheEntry } from '../store/entry.ts'
import { etagOf, matchesEtag } from '../store/entry.ts'

/** The value of `x-cache`. */
export type CacheOutcome = 'HIT' | 'MISS' | 'STALE' | 'COALESCED' | 'BYPASS'

/** The cache's report about the response to one operation. */
export interface OperationReport {
  outcome: CacheOutcome
  /** The entry that the response was read from or stored as. */
  entry?: CacheEntry | undefined
  /** Whether the response is sent as it is stored. Plugins have not changed it. */
  isUntouched?: boolean | undefined
  /**
   * Whether the response can be private or must not be stored, according to the request, a source, an upstream or the
   * options.
   */
  isPersonal: boolean
  /** The reason why the response did not come from the cache or was not stored. */
  reason?: string | undefined
  /** Request headers that the response depends on. */
  varyNames?: readonly string[] | undefined
}

export interface CacheHeaderOptions {
  readonly varyHeaders: readonly string[]
  readonly clientMaxAge: boolean
  readonly exposeReasons: boolean
  readonly now: number
}

const reasons = createAttachment<string>()

/**
 * Returns why the cache did not answer the operations of a request. It is available once the response is being sent.
 */
export function cacheReasonOf(request: object): string | undefined {
  return reasons.get(request)
}

/** The part of a response that the cache reads and writes. */
export interface CachedResponse {
  readonly status: number
  readonly headers: Pick<Headers, 'get' | 'has' | 'set' | 'delete'>
}

/**
 * Sets the cache's headers on a response. Returns true if the copy in `If-None-Match` is current, so that the response
 * is 304 without a body.
 */
export function setCacheHeaders(
  request: Request,
  response: CachedResponse,
  reports: readonly OperationReport[],
  { varyHeaders, clientMaxAge, exposeReasons, now }: CacheHeaderOptions,
): boolean {
  const { headers } = response
  const [report] = reports
  if (report) headers.set('x-cache', reports.map(({ outcome }) => outcome).join(', '))
  if (reports.some((one) => one.outcome === 'BYPASS' || one.reason !== undefined)) {
    const why = reports.flatMap(({ outcome, reason = [] }) =>
      outcome === 'BYPASS' && reason.length === 0
        ? 'the operation is not a query, is a live query, or was not executed'
        : reason,
    )
    const reason = [...new Set(why)].join('; ')
    reasons.set(request, reason)
    if (exposeReasons) headers.set('x-cache-reason', reason.replaceAll(/[^\x20-\x7e]/g, '?'))
  }
  const isGet = request.method === 'GET'
  if (isGet) {
    const names = reports.flatMap((one) => one.varyNames ?? [])
    // A cookie can identify the caller, so the cache does not answer requests with a cookie from shared entries.
    const vary = mergedVary(headers.get('vary'), ['Accept', 'Cookie', ...varyHeaders, ...names])
    // Yoga's class of headers keeps an initial header with different letter case next to the new header.
    headers.delete('vary')
    headers.set('vary', vary)
  }
  const forbidStoring = (): false => {
    const isPersonal = reports.some((one) => one.isPersonal)
    // A GET response without Cache-Control can be stored by heuristics (RFC 9111, section 4.2.2).
    const mayBeStored = isGet || (isPersonal && reports.some(({ outcome }) => outcome === 'BYPASS'))
    if (mayBeStored && !headers.has('cache-control'))
      headers.set('cache-control', isPersonal ? 'private, no-store' : 'no-store')
    return false
  }
  // Another plugin marked the response as private.
  if (/\bno-store\b/.test(headers.get('cache-control') ?? '')) return false
  // A batch contains several responses. Only a single response has an age and an ETag.
  if (!report || reports.length > 1) return forbidStoring()
  const { entry, outcome } = report
  if (!entry) return forbidStoring()
  const ageMs = Math.max(0, now - entry.storedAt)
  if (outcome === 'HIT' || outcome === 'STALE') headers.set('age', String(Math.floor(ageMs / 1000)))
  if (!isGet || response.status !== 200 || !report.isUntouched) return forbidStoring()

  const scope = report.isPersonal ? 'private' : 'public'
  const leftSeconds = Math.max(0, Math.floor((entry.ttlMs - ageMs) / 1000))
  headers.set('cache-control', clientMaxAge ? `${scope}, max-age=${leftSeconds}` : `${scope}, no-cache`)
  const etag = etagOf(entry)
  headers.set('etag', etag)
  return matchesEtag(request.headers.get('if-none-match'), etag)
}

function mergedVary(present: string | null, added: readonly string[]): string {
  if (present?.trim() === '*') return '*'
  const names = new Map<string, string>()
  for (const name of [...(present?.split(',') ?? []), ...added]) {
    const trimmed = name.trim()
    if (trimmed !== '' && !names.has(trimmed.toLowerCase())) names.set(trimmed.toLowerCase(), trimmed)
  }
  return [...names.values()].join(', ')
}
