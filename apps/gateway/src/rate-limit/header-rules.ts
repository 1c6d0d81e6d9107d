import type { RateLimitRule } from './rate-limit-types.ts'
import { mistakeAt } from '../errors.ts'
import { countsOf } from './counts-of.ts'

/**
 * Throws `ConfigError` for a rule by a header that clients choose, where no rule by address counts the same: it would
 * limit nobody who writes another header each time.
 */
export function refuseOpenHeaders(rules: readonly RateLimitRule[]): void {
  const byAddress = rules.filter(({ by = 'address' }) => by === 'address')
  for (const [index, rule] of rules.entries()) {
    if (!isChosen(rule) || byAddress.some((other) => covers(other, rule))) continue
    throw mistakeAt(
      ['rateLimit', 'rules', index, 'by'],
      `a client can change this header to avoid the limit; add a rule by address that counts the same requests, or set trusted: true if a proxy in front of the gateway sets the header`,
    )
  }
}

function isChosen({ by }: RateLimitRule): boolean {
  return typeof by === 'object' && 'header' in by && by.trusted !== true
}

/** Whether `other` counts all that `rule` counts. */
function covers(other: RateLimitRule, rule: RateLimitRule): boolean {
  if (countsOf(other) === 'executions' && countsOf(rule) === 'requests') return false
  return includes(other.operations, rule.operations) && includes(other.fields, rule.fields)
}

/** Undefined: all there are. */
function includes(names: readonly string[] | undefined, others: readonly string[] | undefined): boolean {
  return names === undefined || others?.every((name) => names.includes(name)) === true
}
