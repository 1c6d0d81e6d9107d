import type { InvalidationEvent } from '@vinyasa/invalidation'
import { hasWildcard, matchesTrigger, triggersHitBy } from './triggers.ts'

/** Finds what an event hits without looking at what it does not hit. */
export class TriggerIndex<T> {
  readonly #byTrigger = new Map<string, Set<T>>()

  add(item: T, triggers: readonly string[]): void {
    for (const trigger of triggers) {
      const items = this.#byTrigger.get(trigger)
      if (items) items.add(item)
      else this.#byTrigger.set(trigger, new Set([item]))
    }
  }

  remove(item: T, triggers: readonly string[]): void {
    for (const trigger of triggers) {
      const items = this.#byTrigger.get(trigger)
      items?.delete(item)
      if (items?.size === 0) this.#byTrigger.delete(trigger)
    }
  }

  match(event: InvalidationEvent): Set<T> {
    const found = new Set<T>()
    const keys = hasWildcard(event)
      ? [...this.#byTrigger.keys()].filter((trigger) => matchesTrigger(trigger, event))
      : triggersHitBy(event)
    for (const key of keys) {
      for (const item of this.#byTrigger.get(key) ?? []) found.add(item)
    }
    return found
  }
}
