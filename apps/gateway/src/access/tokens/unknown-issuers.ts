import { backgroundClock } from '@vinyasa/base'
import type { Logger } from '../../logging/logger.ts'

/** Refused tokens are logged together, once in so long. */
const REPORT_MS = 1_000
/** Limit of the issuers that one report names, as anybody can write them. */
const MAX_NAMES = 5
const MAX_CHARACTERS = 200

/** Logs who has issued tokens that no issuer of the config has: a config whose issuer is spelt otherwise looks the same. */
export function logUnknownIssuers(logger: Logger, known: readonly string[]): (issuer: string) => void {
  const names = new Set<string>()
  const report = (): void => {
    logger.warn(
      { issuers: [...names], known },
      'refused tokens whose claim "iss" is missing or not listed in auth.jwt.issuers',
    )
    names.clear()
  }
  return (issuer) => {
    if (names.size === 0) backgroundClock.setTimeout(report, REPORT_MS)
    if (names.size < MAX_NAMES) names.add(issuer.slice(0, MAX_CHARACTERS))
  }
}
