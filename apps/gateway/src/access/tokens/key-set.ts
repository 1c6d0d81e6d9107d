import { type Clock, systemClock, unlessAborted } from '@vinyasa/core'
import {
  createLocalJWKSet,
  errors,
  type CryptoKey,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWTHeaderParameters,
  type JWTVerifyGetKey,
} from 'jose'
import { messageOf } from '../../errors.ts'
import type { Outage } from '../../logging/outage.ts'
import { keysUnavailable } from '../errors.ts'

export interface KeySetOptions {
  /** Asks the issuer for its keys. */
  readonly load: (signal: AbortSignal) => Promise<JSONWebKeySet>
  /** Told of an issuer that does not answer, and when it does. */
  readonly outage: Outage
  /** The keys are others than before: what was verified with those before may be void. */
  readonly onChange?: (() => void) | undefined
  /** Keys older than this are asked for anew, in the background. Default 600_000 ms. */
  readonly refreshMs?: number | undefined
  /** Least time between two questions. Default 30_000 ms. */
  readonly cooldownMs?: number | undefined
  /** How long the issuer may take to answer. Default 5000 ms. */
  readonly timeoutMs?: number | undefined
  /** How many may wait for one answer; others are refused at once. Default 100. */
  readonly maxWaiting?: number | undefined
  readonly clock?: Clock | undefined
}

/** A token that anybody may forge costs a verification for each key that is tried. */
const MAX_FITTING = 16

/** The keys of one issuer. */
export interface KeySet {
  /** The key that a token names; where it names none, the first 16 that could have signed it. */
  keysFor(header: JWTHeaderParameters, token: FlattenedJWSInput): Promise<readonly CryptoKey[]>
  /** Asks for the keys again, if it is time to; whether they are others now. */
  renew(): Promise<boolean>
}

/**
 * The keys of one issuer. Who has a token of a known key never waits for the issuer; one question is under way at a
 * time, and an unknown key asks at most once in a while. Where the issuer does not answer, those who need it are
 * answered with 503.
 */
export function createKeySet(options: KeySetOptions): KeySet {
  const { load, outage, onChange, refreshMs = 600_000, cooldownMs = 30_000, timeoutMs = 5000 } = options
  const { maxWaiting = 100, clock = systemClock } = options
  let keys: JWTVerifyGetKey | undefined
  let text = ''
  let loadedAt = -Infinity
  let askedAt = -Infinity
  let hasFailed = false
  let waiting = 0
  let pending: Promise<void> | undefined

  const mayAsk = (): boolean => pending !== undefined || clock.now() - askedAt >= cooldownMs
  const unavailable = (): Error => keysUnavailable((askedAt + cooldownMs - clock.now()) / 1000)

  async function ask(): Promise<void> {
    askedAt = clock.now()
    try {
      const loaded = await withDeadline(clock, load, timeoutMs)
      const found = createLocalJWKSet(loaded)
      const changed = JSON.stringify(loaded)
      if (keys && changed !== text) onChange?.()
      keys = found
      text = changed
      loadedAt = clock.now()
      hasFailed = false
      outage.worked(0)
    } catch (error) {
      hasFailed = true
      outage.failed(error, messageOf)
    }
  }

  function refresh(): Promise<void> {
    pending ??= ask().finally(() => void (pending = undefined))
    return pending
  }

  async function waitForKeys(): Promise<void> {
    if (waiting >= maxWaiting) throw unavailable()
    waiting += 1
    try {
      await refresh()
    } finally {
      waiting -= 1
    }
  }

  async function find(
    known: JWTVerifyGetKey,
    ...[header, token]: Parameters<KeySet['keysFor']>
  ): Promise<readonly CryptoKey[]> {
    try {
      return [(await known(header, token)) as CryptoKey]
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
      const fitting: CryptoKey[] = []
      for await (const key of error) {
        fitting.push(key)
        if (fitting.length === MAX_FITTING) break
      }
      return fitting
    }
  }

  return {
    async keysFor(header, token) {
      if (keys) {
        if (clock.now() - loadedAt >= refreshMs && mayAsk()) void refresh()
        try {
          return await find(keys, header, token)
        } catch (error) {
          if (!(error instanceof errors.JWKSNoMatchingKey) || (!mayAsk() && !hasFailed)) throw error
        }
      }
      if (!mayAsk()) throw unavailable()
      await waitForKeys()
      if (!keys) throw unavailable()
      try {
        return await find(keys, header, token)
      } catch (error) {
        throw hasFailed && error instanceof errors.JWKSNoMatchingKey ? unavailable() : error
      }
    },
    async renew() {
      const before = text
      if (mayAsk()) await waitForKeys()
      return text !== before
    },
  }
}

/** A server may send its headers and hang then: the deadline is one for all of it. */
async function withDeadline<T>(
  clock: Clock,
  load: (signal: AbortSignal) => Promise<T>,
  ms: number,
): Promise<T> {
  const controller = new AbortController()
  const { signal } = controller
  const timer = clock.setTimeout(() => controller.abort(new Error(`received no keys within ${ms} ms`)), ms)
  try {
    return await unlessAborted(load(signal), signal)
  } finally {
    clock.clearTimeout(timer)
  }
}
