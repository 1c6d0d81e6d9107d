import { backgroundClock, type Clock } from '@vinyasa/core'
import { createReminders } from './reminders.ts'
import { ANYTHING, type InvalidationBus, type InvalidationEvent } from '../types.ts'

/**
 * Effect of a mutation that failed:
 * - `done`: the backend made the change and failed afterwards;
 * - `refused`: the backend made no change;
 * - `unknown`: the backend possibly made the change, or can still make it.
 */
export type MutationOutcome = 'done' | 'refused' | 'unknown'

export interface Mutation<T> {
  readonly call: () => Promise<T>
  readonly outcomeOf: (error: unknown) => MutationOutcome
  /**
   * Returns the invalidation events of the mutation. `result` is `undefined` if the call failed. An empty list means
   * that the mutation changes no data.
   */
  readonly changes: (result: T | undefined) => readonly InvalidationEvent[]
}

/** Publishes the invalidation events of a source's mutations before their responses are sent. */
export interface MutationAnnouncer {
  /**
   * Makes the call and publishes its events immediately. If the outcome is `unknown`, it publishes them again after
   * 1, 5 and 30 seconds. Settles like the call.
   */
  run<T>(mutation: Mutation<T>): Promise<T>
  /** Publishes the events with an unknown outcome one last time and stops. */
  close(): Promise<void>
}

export interface MutationAnnouncerOptions {
  readonly bus: InvalidationBus
  /** Discards reads in flight, so that later callers do not share a read that began before a change. */
  readonly forget: () => void
  /** Clock for the repetitions. Default: the system clock. */
  readonly clock?: Clock | undefined
}

/** Creates the announcer of one source. See {@link MutationAnnouncer}. */
export function createMutationAnnouncer(options: MutationAnnouncerOptions): MutationAnnouncer {
  const { bus, forget, clock = backgroundClock } = options
  const leaveBus = bus.subscribe(forget, { phase: 'forget' })
  const reminders = createReminders((events) => void bus.publish(events), clock)
  const underWay = new Set<() => readonly InvalidationEvent[]>()
  let isClosed = false

  async function announce(events: readonly InvalidationEvent[], isCertain: boolean): Promise<void> {
    // Also for mutations that declare no changes. It costs at most one shared call.
    if (events.length === 0) return forget()
    if (!isCertain && !isClosed) reminders.add(events)
    await bus.publish(events)
  }

  return {
    async run({ call, outcomeOf, changes }) {
      const changesOf = (result: Parameters<typeof changes>[0]): readonly InvalidationEvent[] => {
        try {
          return changes(result)
        } catch {
          return ANYTHING
        }
      }
      const unsure = (): readonly InvalidationEvent[] => changesOf(undefined)
      underWay.add(unsure)
      try {
        const result = await call()
        await announce(changesOf(result), true)
        return result
      } catch (error) {
        const outcome = outcomeOf(error)
        if (outcome !== 'refused') await announce(unsure(), outcome === 'done')
        throw error
      } finally {
        underWay.delete(unsure)
      }
    },
    async close() {
      if (isClosed) return
      isClosed = true
      leaveBus()
      const left = [...reminders.close(), ...[...underWay].flatMap((unsure) => unsure())]
      if (left.length > 0) await bus.publish(left)
    },
  }
}
