import type { Timers } from '../options.ts'
import { inLaterTurn } from '../turn.ts'

/** Delays deferred work until the first part has been sent. */
export interface StartGate<Work> {
  /** Adds work that starts in a later tick, after the gate opens. */
  enter(work: Work): void
  /**
   * Opens the gate after a short delay, because the first fields are waiting. One piece of work then starts per tick.
   */
  openSoon(): void
  /** Opens the gate when the first part has been read. Deferred work starts after it is written. */
  open(): void
  /** Prevents further work. */
  close(): void
}

/** Fast first fields finish within this delay, and it is negligible compared with slow fields. */
const graceMs = 5

export function createStartGate<Work>(
  clock: Timers,
  start: (works: readonly Work[]) => void,
): StartGate<Work> {
  let waiting: Work[] = []
  let state: 'shut' | 'ajar' | 'open' | 'closed' = 'shut'
  let isScheduled = false
  let graceTimer: unknown

  function schedule(): void {
    if (isScheduled || waiting.length === 0 || state === 'shut' || state === 'closed') return
    isScheduled = true
    // Work is delayed by two ticks, so that finished parts are written before the next work blocks the thread.
    inLaterTurn(() => void inLaterTurn(run))
  }

  function run(): void {
    isScheduled = false
    if (state === 'closed') return
    const starting = state === 'open' ? waiting : waiting.slice(0, 1)
    waiting = waiting.slice(starting.length)
    start(starting)
    schedule()
  }

  return {
    enter(work) {
      waiting.push(work)
      schedule()
    },
    openSoon() {
      graceTimer = clock.setTimeout(() => {
        if (state === 'shut') state = 'ajar'
        schedule()
      }, graceMs)
    },
    open() {
      if (state === 'closed' || state === 'open') return
      state = 'open'
      clock.clearTimeout(graceTimer)
      schedule()
    },
    close() {
      state = 'closed'
      waiting = []
      clock.clearTimeout(graceTimer)
    },
  }
}
