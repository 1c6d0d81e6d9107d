import type { Clock } from '@vinyasa/base'

/** Whom batches come from hears at most so often that they were applied: all hear each reply, so many of one time are one. */
const APART_MS = 5

export interface Replies {
  /** Replies to a greeting, or to a batch that was applied, by its sender and count. */
  add(origin?: string, n?: number): void
  close(): void
}

/** Sends replies to the other processes: the first at once, those that follow close behind it together. */
export function createReplies(
  send: (applied: Readonly<Record<string, number>> | undefined) => void,
  clock: Clock,
): Replies {
  const applied = new Map<string, number>()
  let isOwed = false
  let timer: unknown

  function flush(): void {
    timer = undefined
    if (!isOwed) return
    isOwed = false
    const counts = applied.size === 0 ? undefined : Object.fromEntries(applied)
    applied.clear()
    timer = clock.setTimeout(flush, APART_MS)
    send(counts)
  }

  return {
    add(origin, n) {
      isOwed = true
      if (origin !== undefined && n !== undefined) applied.set(origin, Math.max(n, applied.get(origin) ?? 0))
      if (timer === undefined) flush()
    },
    close: () => clock.clearTimeout(timer),
  }
}
