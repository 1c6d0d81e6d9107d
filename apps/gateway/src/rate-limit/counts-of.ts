import type { RateLimitRule } from './rate-limit-types.ts'

/**
 * Returns what a rule counts. A rule for operations or fields counts executions, as these are known only once
 * a document is parsed.
 */
export function countsOf({ counts, operations, fields }: RateLimitRule): 'requests' | 'executions' {
  return counts ?? (operations || fields ? 'executions' : 'requests')
}
