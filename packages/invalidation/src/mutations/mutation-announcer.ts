import { ANYTHING } from '../anything.ts'
import { backgroundClock, type Clock } from '@vinyasa/base'
import { createReminders } from './reminders.ts'
import type { InvalidationBus, InvalidationEvent } from '../types.ts'

/**
 * The effect of a mutation that did not end well:
 * - `done`: it was carried out, and failed only after that;
 * - `refused`: nothing, for certain;
 * - `unknown`: it may have been carried out, or may still be.
 */
export type MutationOutcome = 'done' | 'refused' | 'unknown'

export interface Mutation<T> {
  readonly call: () => Promise<T>
  readonly outcomeOf: (error: unknown) => MutationOutcome
  /** Returns what it changes, given its result, if one came. Empty: nothing. */
  readonly changes: (result: T | undefined) => readonly InvalidationEvent[]
}

/** Announces what a source's mutations change, before they answer. */
export interface MutationAnnouncer {
  /**
   * Makes the call and announces its changes: at once where it was carried out, at once and again after 1 s, 5 s and
   * 30 s where nobody knows. Ends as the call did.
   */
  run<T>(mutation: Mutation<T>): Promise<T>
  /** Announces once more what is not certain yet, and is silent from then on. */
  close(): Promise<void>
}

export interface MutationAnnouncerOptions {
  readonly bus: InvalidationBus
  /** Lets go of reads under way, which nobody may join after a change, whoever made it. */
  readonly forget: () => void
  /** Default: the platform's. */
  readonly clock?: Clock | undefined
}

/** One for each source. See {@link MutationAnnouncer}. */
export function createMutationAnnouncer(options: MutationAnnouncerOptions): MutationAnnouncer {
  const { bus, forget, clock = backgroundClock } = options
  const leaveBus = bus.subscribe(forget, { phase: 'forget' })
  const reminders = createReminders((events) => void bus.publish(events), clock)
  const underWay = new Set<() => readonly InvalidationEvent[]>()
  let isClosed = false

  async function announce(events: readonly InvalidationEvent[], isCertain: boolean): Promise<void> {
    // Also where the author says that nothing changes: it costs one shared call at most.
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
