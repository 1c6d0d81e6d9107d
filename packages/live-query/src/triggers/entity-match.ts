import type { InvalidationEvent } from '@vinyasa/invalidation'
import type { EntityFinder } from './identifiers.ts'

/** Events kept while a run is under way; more than this and the run is repeated whatever it finds. */
const JOURNAL_SIZE = 256

/**
 * Decides whether an event with an id concerns a group by what its last result holds. What the run in flight will
 * hold is not known yet: events that came meanwhile stand in a journal until it ends.
 */
export class EntityMatch {
  readonly #finder: EntityFinder
  #held: Set<string> | undefined
  #journal: string[] = []

  constructor(finder: EntityFinder) {
    this.#finder = finder
  }

  /** `running`: an execution is under way, whose result may hold what the last one did not. */
  concerns({ entityType, operation, entityId }: InvalidationEvent, running: boolean): boolean {
    // An entity that was created is held by nobody yet, and may belong into every list.
    if (entityId === undefined || operation === 'create' || !this.#finder.identifies(entityType)) return true
    const entity = `${entityType}:${entityId}`
    if (this.#held?.has(entity)) return true
    if (!running) return this.#held === undefined
    if (this.#journal.length >= JOURNAL_SIZE) return true
    this.#journal.push(entity)
    return false
  }

  /** A run ended. Returns whether an event that came meanwhile concerned what it found. */
  update(data: unknown, hasErrors: boolean): boolean {
    // A result with errors does not say what the query would hold.
    this.#held = hasErrors ? undefined : this.#finder.entitiesIn(data)
    const held = this.#held
    const journal = this.#journal
    this.#journal = []
    return held ? journal.some((entity) => held.has(entity)) : journal.length > 0
  }
}
