import { systemClock } from '@vinyasa/core'
import { reasonOf } from '../errors.ts'
import type { Logger } from './logger.ts'

/** Logs one line when something begins to fail and one when it works again, however often it is called. */
export interface Outage {
  /** `describe` gets the cause from the error; it runs for the first failure only. */
  failed(error: unknown, describe?: (error: unknown) => string): void
  /** It works again if nothing has failed for `quietMs`: a server that answers now and then is still down. */
  worked(quietMs?: number): void
}

const QUIET_MS = 1_000
const MAX_CAUSE_LENGTH = 500

/** `facts` are in both lines, for example the address. */
export function createOutage(
  logger: Pick<Logger, 'warn' | 'info'> | undefined,
  texts: { readonly down: string; readonly up: string },
  facts: object = {},
  now: () => number = systemClock.now,
): Outage {
  let failures = 0
  let beganAt = 0
  let lastAt = 0
  let since = ''
  return {
    failed(error, describe = reasonOf) {
      lastAt = now()
      if (failures++ > 0) return
      beganAt = lastAt
      since = new Date(systemClock.wallNow()).toISOString()
      const cause = withoutSecrets(describe(error)).slice(0, MAX_CAUSE_LENGTH)
      logger?.warn({ ...facts, cause, since }, texts.down)
    },
    worked(quietMs = QUIET_MS) {
      if (failures === 0 || now() - lastAt < quietMs) return
      logger?.info({ ...facts, failures, since, forMs: Math.round(lastAt - beganAt) }, texts.up)
      failures = 0
    },
  }
}

/** Of one backend, which calls and health checks report. */
export function outageOf(
  logger: Logger,
  {
    name,
    kind,
    address,
  }: { readonly name: string; readonly kind: string; readonly address?: string | undefined },
): Outage {
  const what = `${kind} source "${name}"`
  const facts = { source: name, ...(address !== undefined && { address: withoutSecrets(address) }) }
  return createOutage(logger, { down: `${what} is down`, up: `${what} is up again` }, facts)
}

/** Reports a health check of a source whose backend may be called by nobody. */
export function reportHealth<
  Health extends { readonly healthy: boolean; readonly reason?: string | undefined },
>(outage: Outage, health: Health): Health {
  if (health.healthy) outage.worked()
  else outage.failed(health.reason, String)
  return health
}

/** Removes the user, password and query from the addresses in a text. */
export function withoutSecrets(text: string): string {
  return text.replace(/\/\/[^/\s@]*@/g, '//').replace(/(\/\/[^\s?#]*)(?:[?#][^\s)]*)?/g, '$1')
}
