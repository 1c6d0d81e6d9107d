import type { InvalidationEvent } from '@vinyasa/invalidation'
import type { InvalidationCause, InvalidationStrategy } from './options.ts'
import { tagsOfTargets, type InvalidationTarget, type Tags } from './store/tags.ts'

export function causeOfEvents(events: readonly InvalidationEvent[]): InvalidationCause {
  return {
    source: 'event',
    events,
    types: [...new Set(events.map((event) => event.entityType))],
    // An entity that was just created is in no entry yet, but may belong into any list of its type.
    entities: events.map(({ entityType, operation, entityId }) => ({
      type: entityType,
      id: operation === 'create' ? undefined : entityId,
    })),
  }
}

/** Whether entries know the entities that they depend on, and not only their types. */
export function isByEntity(strategy: InvalidationStrategy): boolean {
  return strategy === 'entities' || typeof strategy === 'function'
}

/** Tells what a change hits. Throws what a strategy of the owner's throws. */
export function tagsOfCause(cause: InvalidationCause, strategy: InvalidationStrategy): Tags {
  // Nobody can narrow what the bus has missed.
  const isGap = cause.source === 'event' && cause.types.includes('*')
  if (strategy === 'all' || isGap) return 'all'
  return tagsHit(targetsOf(cause, strategy), strategy)
}

/** Tells what the change of these targets hits: nothing where there is none. */
export function tagsHit(
  targets: readonly InvalidationTarget[] | 'all',
  strategy: InvalidationStrategy,
): Tags {
  // `*` says that anything may have changed.
  if (targets === 'all' || targets.some(({ type }) => type === '*')) return 'all'
  return targets.length > 0 ? tagsOfTargets(targets, isByEntity(strategy)) : []
}

function targetsOf(
  cause: InvalidationCause,
  strategy: Exclude<InvalidationStrategy, 'all'>,
): readonly InvalidationTarget[] | 'all' {
  if (typeof strategy === 'function') return strategy(cause)
  return strategy === 'entities' ? cause.entities : cause.types.map((type) => ({ type }))
}
