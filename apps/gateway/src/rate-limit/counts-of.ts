import type { RateLimitRule } from '../config/access-types.ts'

/** What is of one operation or field is known once it is parsed. */
export function countsOf({ counts, operations, fields }: RateLimitRule): 'requests' | 'executions' {
  return counts ?? (operations || fields ? 'executions' : 'requests')
}
