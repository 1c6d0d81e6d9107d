import { systemClock } from '@vinyasa/base'
import type { Logger } from '../logging/logger.ts'

/** Tells of a server that does not answer, however many ask it: when it begins, and when it is over. */
export interface Outage {
  failed(error: unknown): void
  /** It answered. */
  worked(): void
}

/** So long without a failure, and it is over: a server that answers now and then is not there yet. */
const QUIET_MS = 1_000

export function createOutage(
  logger: Pick<Logger, 'error' | 'info'>,
  what: string,
  now: () => number = systemClock.now,
): Outage {
  let failures = 0
  let beganAt = 0
  let lastAt = 0
  return {
    failed(error) {
      lastAt = now()
      if (failures++ > 0) return
      beganAt = lastAt
      logger.error(error, `${what} does not answer; said once until it does`)
    },
    worked() {
      if (failures === 0 || now() - lastAt < QUIET_MS) return
      logger.info({ failures, forMs: Math.round(lastAt - beganAt) }, `${what} answers again`)
      failures = 0
    },
  }
}
