import type { Clock } from '@vinyasa/base'

/** Whom batches come from hears at most so often that they were applied: many replies of one time are one. */
const APART_MS = 5

export interface Replies {
  /** Replies on a channel to a greeting, or to a batch that was applied, by its sender and count. */
  add(channel: string, origin?: string, n?: number): void
  close(): void
}

/** Sends replies to the other processes: the first at once, those that follow close behind it together. */
export function createReplies(
  send: (channel: string, applied: Readonly<Record<string, number>> | undefined) => void,
  clock: Clock,
): Replies {
  /** Of each channel on which a reply is owed, the counts of senders. */
  const owed = new Map<string, Map<string, number>>()
  let timer: unknown

  function flush(): void {
    timer = undefined
    if (owed.size === 0) return
    const replies = [...owed]
    owed.clear()
    timer = clock.setTimeout(flush, APART_MS)
    for (const [channel, applied] of replies)
      send(channel, applied.size === 0 ? undefined : Object.fromEntries(applied))
  }

  return {
    add(channel, origin, n) {
      const applied = owed.get(channel) ?? new Map<string, number>()
      owed.set(channel, applied)
      if (origin !== undefined && n !== undefined) applied.set(origin, Math.max(n, applied.get(origin) ?? 0))
      if (timer === undefined) flush()
    },
    close: () => clock.clearTimeout(timer),
  }
}
