import type { Batch } from './batch.ts'

/** Knows from the count of each sender's batches when one did not arrive. */
export class GapDetector {
  readonly #last = new Map<string, { n: number; seenAt: number }>()

  /** Whether something is missing before this batch. A sender heard for the first time has missed nothing. */
  isGap({ origin, n, events }: Batch, now: number): boolean {
    if (origin === undefined) return false
    const last = this.#last.get(origin)?.n
    this.#last.set(origin, { n, seenAt: now })
    if (last === undefined || n < last) return false
    return n > last + (events.length > 0 ? 1 : 0)
  }

  /** Forgets senders that have been silent since then: gateways come and go. */
  forgetSilentSince(time: number): void {
    for (const [origin, { seenAt }] of this.#last) if (seenAt < time) this.#last.delete(origin)
  }
}
