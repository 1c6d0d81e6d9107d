import type { Clock } from './time/clock.ts'

const REPORT_MS = 60_000

/** Limits reports of a failure that other parties can cause at any rate. */
export interface SparseReports {
  /**
   * Counts one failure. Returns the number of failures to report now. It is 0 if the last report is less than
   * a minute old.
   */
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
