import type { Clock } from './clock.ts'

const REPORT_MS = 60_000

/** Limits the reports of a failure that others can repeat as often as they like. */
export interface SparseReports {
  /** Counts one failure. Returns how many to report now; 0 if a report was made less than a minute ago. */
  count(): number
}

export function createSparseReports({ now }: Pick<Clock, 'now'>): SparseReports {
  let failures = 0
  let reportedAt = Number.NEGATIVE_INFINITY
  return {
    count() {
      failures++
      if (now() - reportedAt < REPORT_MS) return 0
      reportedAt = now()
      const reported = failures
      failures = 0
      return reported
    },
  }
}
