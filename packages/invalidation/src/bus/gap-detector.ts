import type { Batch } from './batch.ts'

/** Knows from the count of each sender's batches when one did not arrive. */
export class GapDetector {
  readonly #last = new Map<string, { n: number; seenAt: number; isSilent: boolean }>()

  /** Whether something is missing before this batch. A sender heard for the first time has missed nothing. */
  isGap({ origin, n, events, isGoodbye = false }: Batch, now: number): boolean {
    if (origin === undefined) return false
    const last = this.#last.get(origin)?.n
    this.#last.set(origin, { n, seenAt: now, isSilent: isGoodbye })
    if (last === undefined || n < last) return false
    return n > last + (events.length > 0 ? 1 : 0)
  }

  /** Whether a sender has been silent since then without a goodbye: it may have died before it told of a change. */
  fellSilentSince(time: number): boolean {
    const gone = [...this.#last.values()].filter(({ seenAt, isSilent }) => !isSilent && seenAt < time)
    for (const sender of gone) sender.isSilent = true
    return gone.length > 0
  }

  /** Forgets senders that have been silent since then: gateways come and go. */
  forgetSilentSince(time: number): void {
    for (const [origin, { seenAt }] of this.#last) if (seenAt < time) this.#last.delete(origin)
  }
}
