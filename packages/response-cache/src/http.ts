import type { CacheEntry } from './entry.ts'
import { etagOf, matchesEtag } from './entry.ts'

/** How a request was answered; the value of `x-cache`. */
export type CacheOutcome = 'HIT' | 'MISS' | 'STALE' | 'COALESCED' | 'BYPASS'

/** What the cache knows of one operation's answer. */
export interface OperationReport {
  outcome: CacheOutcome
  /** The answer, when it is or could be stored. */
  body?: Buffer | undefined
  entry?: Pick<CacheEntry, 'storedAt' | 'ttlMs'> | undefined
  /** Some vary header or session made the key personal. */
  isPersonal?: boolean | undefined
}

export interface CacheHeaderOptions {
  readonly varyHeaders: readonly string[]
  readonly clientMaxAge: boolean
  readonly now: number
}

/**
 * Sets the cache's headers on a response. Returns true when the client's copy, named by
 * `If-None-Match`, is still the answer: it wants 304 without a body.
 */
export function setCacheHeaders(
  request: Request,
  response: Response,
  reports: readonly OperationReport[],
  { varyHeaders, clientMaxAge, now }: CacheHeaderOptions,
): boolean {
  const { headers } = response
  headers.set('x-cache', reports.map((report) => report.outcome).join(', '))
  const [report] = reports
  // A batch is several answers in one; only a single answer has an age and a validator.
  if (!report || reports.length > 1) return false
  const { entry, body } = report
  const ageMs = entry ? Math.max(0, now - entry.storedAt) : 0
  if (entry && report.outcome !== 'MISS') headers.set('age', String(Math.floor(ageMs / 1000)))
  if (request.method !== 'GET' || !body || response.status !== 200) return false

  const scope = report.isPersonal ? 'private' : 'public'
  const leftSeconds = entry ? Math.max(0, Math.floor((entry.ttlMs - ageMs) / 1000)) : 0
  headers.set('cache-control', clientMaxAge ? `${scope}, max-age=${leftSeconds}` : `${scope}, no-cache`)
  headers.set('vary', mergedVary(headers.get('vary'), ['Accept', ...varyHeaders]))
  const etag = etagOf(body)
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
