import { createAttachment } from '@vinyasa/core'
import type { CacheEntry } from '../store/entry.ts'
import { etagOf, matchesEtag } from '../store/entry.ts'

/** How a request was answered; the value of `x-cache`. */
export type CacheOutcome = 'HIT' | 'MISS' | 'STALE' | 'COALESCED' | 'BYPASS'

/** The cache's report on the answer to one operation. */
export interface OperationReport {
  outcome: CacheOutcome
  /** The entry that the answer was taken from or stored as. */
  entry?: CacheEntry | undefined
  /** The answer goes out as it is stored: no plugin changed or extended it. */
  isUntouched?: boolean | undefined
  /** The answer may be for somebody, or no cache may keep it: the request, a source, an upstream or code of the options says so. */
  isPersonal: boolean
  /** Why it was not answered from the cache, or not stored. */
  reason?: string | undefined
  /** Request headers that the answer depends on. */
  varyNames?: readonly string[] | undefined
}

export interface CacheHeaderOptions {
  readonly varyHeaders: readonly string[]
  readonly clientMaxAge: boolean
  readonly exposeReasons: boolean
  readonly now: number
}

const reasons = createAttachment<string>()

/** Returns why the operations of a request were not answered from the cache, once its response is on the way. */
export function cacheReasonOf(request: object): string | undefined {
  return reasons.get(request)
}

/** The part of a response that is looked at and written to. */
export interface CachedResponse {
  readonly status: number
  readonly headers: Pick<Headers, 'get' | 'has' | 'set' | 'delete'>
}

/**
 * Sets the cache's headers on a response. Returns true when the client's copy, named by
 * `If-None-Match`, is still the answer: it wants 304 without a body.
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
    // A cookie may say who asks: a request that has one is not answered here from what is kept for others either.
    const vary = mergedVary(headers.get('vary'), ['Accept', 'Cookie', ...varyHeaders, ...names])
    // Yoga's class of headers keeps one that it was made with in other letters beside what is set.
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
  // Another plugin knows of something in it that is for nobody else.
  if (/\bno-store\b/.test(headers.get('cache-control') ?? '')) return false
  // A batch is several answers in one; only a single answer has an age and a validator.
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
