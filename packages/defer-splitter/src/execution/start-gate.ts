import type { Timers } from '../options.ts'
import { inLaterTurn } from '../turn.ts'

/** Holds deferred work back until the first part is out of the way. */
export interface StartGate<Work> {
  /** Takes work that starts in a later turn of the event loop, once the gate is open. */
  enter(work: Work): void
  /** The first fields are waiting for something: let deferred work begin beside them, a piece a turn, after a grace. */
  openSoon(): void
  /** The first part is taken: deferred work begins when it has been written. */
  open(): void
  /** Nothing starts any more. */
  close(): void
}

/** Fast first fields are answered within the grace; beside slow ones it is not noticed. */
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
    // Two turns: what was taken or finished in this one is written before the next work takes the thread.
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
