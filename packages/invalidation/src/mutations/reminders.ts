import type { Clock } from '@vinyasa/core'
import { ANYTHING, type InvalidationEvent } from '../types.ts'

/** Milliseconds after which a backend can still have committed a cancelled mutation. */
const DELAYS_MS = [1_000, 5_000, 30_000]
/** Reminders are rounded up to this interval, so that the reminders of several mutations are combined. */
const GRAIN_MS = 500
/** Maximum number of different events in one reminder. A larger reminder affects everything. */
const MAX_EVENTS = 100

/** Changes that are published again later, because the time of the change is unknown. */
export interface Reminders {
  /** Publishes the events again after 1 s, 5 s and 30 s, each at most half a second late. */
  add(events: readonly InvalidationEvent[]): void
  /** Ends all reminders and returns their events, each event once. */
  close(): readonly InvalidationEvent[]
}

interface Reminder {
  readonly timer: unknown
  readonly events: Map<string, InvalidationEvent>
}

/** There are at most 61 timers with 100 events each, regardless of the number of mutations. */
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
