interface Timer {
  readonly id: number
  readonly dueAt: number
  readonly callback: () => void
}

/** A clock that stands still until it is told to advance. Same shape as the packages' `clock` option. */
export interface FakeClock {
  now(): number
  wallNow(): number
  setTimeout(callback: () => void, ms: number): unknown
  clearTimeout(timer: unknown): void
  /** Moves time forward, firing due timers in order; promises settle between one timer and the next. */
  advance(ms: number): Promise<void>
  /** Sets the wall clock forward, or back: nothing else moves. */
  stepWall(ms: number): void
  /** How many timers are waiting: 0 when everything was stopped. */
  pending(): number
}

export interface FakeClockOptions {
  /** Milliseconds since the Unix epoch at the start. Default 1_700_000_000_000. */
  readonly startAt?: number
}

export function createFakeClock(options: FakeClockOptions = {}): FakeClock {
  const { startAt = 1_700_000_000_000 } = options
  let now = startAt
  let wallAhead = 0
  let nextId = 1
  const timers = new Map<number, Timer>()

  function nextDue(until: number): Timer | undefined {
    let due: Timer | undefined
    for (const timer of timers.values()) {
      if (timer.dueAt <= until && (!due || timer.dueAt < due.dueAt)) due = timer
    }
    return due
  }

  return {
    now: () => now,
    wallNow: () => now + wallAhead,
    setTimeout(callback, ms) {
      const id = nextId++
      timers.set(id, { id, dueAt: now + Math.max(0, ms), callback })
      return id
    },
    clearTimeout(timer) {
      timers.delete(timer as number)
    },
    async advance(ms) {
      const until = now + ms
      await settle()
      for (let timer = nextDue(until); timer; timer = nextDue(until)) {
        timers.delete(timer.id)
        now = timer.dueAt
        timer.callback()
        await settle()
      }
      now = until
    },
    stepWall: (ms) => void (wallAhead += ms),
    pending: () => timers.size,
  }
}

/** Lets promise chains and immediates that are already under way come to rest. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
}
