/** How events are merged, with every default filled in. */
export interface Timing {
  readonly throttleMs: number
  /** Off: every event is an update of its own. */
  readonly batching: boolean
  readonly debounceMs: number
  readonly maxBatchSize: number
  readonly maxWaitMs: number
}

/** Events that no run has covered yet. */
export interface PendingEvents {
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
}

/**
 * When the next run may begin: after the throttle, and once the events have come to rest, but at the latest
 * `maxWaitMs` after the first of them. A full batch waits for no rest, yet for the throttle.
 */
export function nextRunAt(pending: PendingEvents, lastEmitAt: number, timing: Timing): number {
  const throttled = lastEmitAt + timing.throttleMs
  if (!timing.batching || pending.count >= timing.maxBatchSize) return Math.max(throttled, pending.firstAt)
  const rest = Math.min(pending.lastAt + timing.debounceMs, pending.firstAt + timing.maxWaitMs)
  return Math.max(throttled, rest)
}

/** How many of the waiting events the next run stands for. Unbatched events beyond the queue's bound are merged. */
export function eventsOfNextRun(count: number, timing: Timing): number {
  if (timing.batching) return count
  return count > timing.maxBatchSize ? count - timing.maxBatchSize + 1 : 1
}

const LONGEST_BACKOFF_MS = 3000
/** The poll interval that the backoff counts with where nothing is polled. */
const DEFAULT_POLL_MS = 1000

/**
 * The wait before a failed run is tried again: 250 ms, doubling to 3 s, with up to half taken off by chance. A client
 * shows the truth within 5 s of its backend's return, however long that was away.
 *
 * Where only a part fails, which may be for ever, the wait goes on doubling up to the poll interval times 100: such a query
 * shows its data, and costs the backend no standing load.
 */
export function backoffMs(
  failures: number,
  isPartial: boolean,
  pollIntervalMs: number,
  random: () => number,
): number {
  const interval = Number.isFinite(pollIntervalMs) ? pollIntervalMs : DEFAULT_POLL_MS
  const longest = isPartial ? 100 * interval : LONGEST_BACKOFF_MS
  const full = Math.min(longest, 250 * 2 ** Math.min(failures - 1, 30))
  return full * (1 - random() / 2)
}

/** A poll interval with a little more by chance, never less: groups that began together do not poll together for ever. */
export function jittered(pollIntervalMs: number, random: () => number): number {
  return pollIntervalMs * (1 + random() * 0.05)
}
