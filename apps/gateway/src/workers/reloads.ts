import { systemClock, type Clock } from '@vinyasa/core'
import type { Logger } from '../logging/logger.ts'

/** Why a process cannot serve what is configured now. */
export interface ReloadFailure {
  /** Says what happened and how to fix it. */
  readonly reason: string
  /** It would be the same at the next attempt: the config itself cannot be used. */
  readonly isFinal: boolean
}

/** The part that one process has in a reload. */
export interface ReloadPart {
  /** Makes the gateway that is to serve next, in the place of one that was prepared and not used; undefined when it is there. */
  prepare(): Promise<ReloadFailure | undefined>
  /** Serves from what was prepared. */
  commit(): void
  /** Closes what was prepared. */
  abandon(): void
}

export interface ReloadsOptions {
  /** The processes that serve now. */
  readonly parts: () => readonly ReloadPart[]
  /** Told of an attempt that failed, once for each reason; `retryMs` is undefined where there is no other. */
  readonly onFailure: (failure: ReloadFailure, retryMs: number | undefined) => void
  readonly clock?: Clock | undefined
}

/** Reloads of all processes of a gateway. */
export interface Reloads {
  /** Begins one. While one is under way or waits for its next attempt, that one begins anew. */
  request(): void
  /** Attempts so far: a process that started before the last one may have read an older config. */
  readonly attempts: number
  /** Makes no further attempt. */
  close(): void
}

/** Says why a reload failed, and what becomes of it. */
export function reloadFailure(logger: Pick<Logger, 'error'>): ReloadsOptions['onFailure'] {
  return ({ reason }, retryMs) =>
    logger.error(
      { reason, ...(retryMs !== undefined && { retryMs }) },
      `reload failed; the previous schema remains active${retryMs === undefined ? '' : ', and the gateway retries the reload'}`,
    )
}

const FIRST_RETRY_MS = 1_000
const MAX_RETRY_MS = 30_000

/**
 * All processes serve the new gateway, or none does: each prepares its own, and they switch when all are ready. Where one
 * cannot, all stay with the old, and the reload is retried until it succeeds, a newer reload comes, or nothing but another
 * config would help.
 */
export function createReloads({ parts, onFailure, clock = systemClock }: ReloadsOptions): Reloads {
  let attempts = 0
  let isRunning = false
  let isAsked = false
  const closing = new AbortController()
  let endWait = (): void => {}

  async function attempt(): Promise<ReloadFailure | undefined> {
    attempts++
    const asked = parts()
    const failures = await Promise.all(asked.map((part) => part.prepare()))
    const failure = failures.find((one) => one?.isFinal) ?? failures.find((one) => one !== undefined)
    for (const part of asked) {
      if (failure || closing.signal.aborted) part.abandon()
      else part.commit()
    }
    return failure
  }

  /** Gives how long to wait for the next attempt. */
  function failed(failure: ReloadFailure, known: string | undefined, failures: number): number | undefined {
    const retryMs = failure.isFinal ? undefined : Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** failures)
    if (failure.reason !== known) onFailure(failure, retryMs)
    return retryMs
  }

  async function run(): Promise<void> {
    isRunning = true
    let failures = 0
    let known: string | undefined
    while (!closing.signal.aborted) {
      isAsked = false
      const failure = await attempt()
      if (closing.signal.aborted) break
      const retryMs = failure && failed(failure, known, failures++)
      known = failure?.reason
      if (!isAsked && retryMs === undefined) break
      if (isAsked || (retryMs !== undefined && (await wait(retryMs)))) {
        failures = 0
        known = undefined
      }
    }
    isRunning = false
  }

  /** Whether it ended early. */
  function wait(delayMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = clock.setTimeout(() => resolve(false), delayMs)
      endWait = () => {
        clock.clearTimeout(timer)
        resolve(true)
      }
    })
  }

  return {
    get attempts() {
      return attempts
    },
    request() {
      isAsked = true
      if (isRunning) endWait()
      else void run()
    },
    close() {
      closing.abort()
      endWait()
    },
  }
}
