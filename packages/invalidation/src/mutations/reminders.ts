import type { Clock } from '@vinyasa/core'
import { ANYTHING, type InvalidationEvent } from '../types.ts'

/** How long after a cut a backend is given to commit all the same. */
const DELAYS_MS = [1_000, 5_000, 30_000]
/** Reminders are rounded up to this, so that those of many mutations are one. */
const GRAIN_MS = 500
/** Different events in one reminder; beyond it, it stands for everything. */
const MAX_EVENTS = 100

/** Changes that are announced again later, as nobody knows when they are made. */
export interface Reminders {
  /** Reminds of them after 1 s, 5 s and 30 s, each at most half a second late. */
  add(events: readonly InvalidationEvent[]): void
  /** Ends them all and gives what was still to be said, each once. */
  close(): readonly InvalidationEvent[]
}

interface Reminder {
  readonly timer: unknown
  readonly events: Map<string, InvalidationEvent>
}

/** At most 61 timers with 100 events each, however many mutations there are. */
export function createReminders(
  publish: (events: readonly InvalidationEvent[]) => void,
  clock: Clock,
): Reminders {
  const reminders = new Map<number, Reminder>()

  function reminderAt(due: number): Reminder {
    let reminder = reminders.get(due)
    if (!reminder) {
      const events = new Map<string, InvalidationEvent>()
      const ring = (): void => {
        reminders.delete(due)
        publish(whole(events))
      }
      reminders.set(due, (reminder = { timer: clock.setTimeout(ring, due - clock.now()), events }))
    }
    return reminder
  }

  return {
    add(events) {
      for (const delay of DELAYS_MS) {
        const reminder = reminderAt(Math.ceil((clock.now() + delay) / GRAIN_MS) * GRAIN_MS)
        for (const event of events)
          if (reminder.events.size <= MAX_EVENTS) reminder.events.set(JSON.stringify(event), event)
      }
    },
    close() {
      const left = new Map<string, InvalidationEvent>()
      for (const { timer, events } of reminders.values()) {
        clock.clearTimeout(timer)
        for (const [key, event] of events) left.set(key, event)
      }
      reminders.clear()
      return whole(left)
    },
  }
}

function whole(events: ReadonlyMap<string, InvalidationEvent>): readonly InvalidationEvent[] {
  return events.size > MAX_EVENTS ? ANYTHING : [...events.values()]
}
