/** The options for merging events, with all defaults applied. */
export interface Timing {
  readonly throttleMs: number
  /** If false, every event is a separate update. */
  readonly batching: boolean
  readonly debounceMs: number
  readonly maxBatchSize: number
  readonly maxWaitMs: number
}

/** Events since the last run. */
export interface PendingEvents {
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
}

/**
 * Returns the earliest time of the next run: after the throttle and the debounce time, but at most `maxWaitMs` after
 * the first event. A full batch does not wait for the debounce time, but for the throttle.
 */
export function nextRunAt(pending: PendingEvents, lastEmitAt: number, timing: Timing): number {
  const throttled = lastEmitAt + timing.throttleMs
  if (!timing.batching || pending.count >= timing.maxBatchSize) return Math.max(throttled, pending.firstAt)
  const rest = Math.min(pending.lastAt + timing.debounceMs, pending.firstAt + timing.maxWaitMs)
  return Math.max(throttled, rest)
}

/**
 * Returns how many waiting events the next run covers. Without batching, events above the limit of the queue are
 * merged.
 */
export function eventsOfNextRun(count: number, timing: Timing): number {
  if (timing.batching) return count
  return count > timing.maxBatchSize ? count - timing.maxBatchSize + 1 : 1
}

const LONGEST_BACKOFF_MS = 3000
/** The poll interval for the backoff of queries that are not polled. */
const DEFAULT_POLL_MS = 1000

/**
 * Returns the delay before a retry: 250 ms, doubled up to 3 s, with a random reduction of up to half. A client
 * therefore receives data within 5 s after its backend has recovered.
 *
 * If only a part fails, possibly forever, the delay continues to double up to 100 poll intervals, so that the query
 * causes little load.
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

/** Returns the poll interval plus a small random time, so that groups do not poll simultaneously forever. */
export function jittered(pollIntervalMs: number, random: () => number): number {
  return pollIntervalMs * (1 + random() * 0.05)
}
