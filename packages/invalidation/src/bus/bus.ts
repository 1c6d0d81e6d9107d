import type { InvalidationBus, InvalidationEvent, InvalidationListener, InvalidationPhase } from '../types.ts'

export interface InvalidationBusOptions {
  /** Receives errors that listeners throw. Default: logs with `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** Creates an invalidation bus for one process. See {@link InvalidationBus} for the guarantees. */
export function createInvalidationBus(options: InvalidationBusOptions = {}): InvalidationBus {
  const { onError = defaultOnError } = options
  const listeners: Readonly<Record<InvalidationPhase, Set<InvalidationListener>>> = {
    forget: new Set(),
    evict: new Set(),
    react: new Set(),
  }

  return {
    async publish(said, name) {
      if (said.length === 0) return
      const events = said.map(withoutEmptyId)
      for (const phase of [listeners.forget, listeners.evict, listeners.react]) {
        const pending = [...phase].map(async (listener) => {
          try {
            await listener(events, name)
          } catch (error) {
            onError(error)
          }
        })
        await Promise.all(pending)
      }
    },
    subscribe(listener, { phase = 'react' } = {}) {
      // The listener is wrapped, so that a function can be subscribed twice.
      const entry: InvalidationListener = (events, name) => listener(events, name)
      listeners[phase].add(entry)
      return () => {
        listeners[phase].delete(entry)
      }
    },
  }
}

/** Removes an empty id, which proto3 sends for a missing id, because it would limit the event to one entity. */
function withoutEmptyId(event: InvalidationEvent): InvalidationEvent {
  if (event.entityId !== '') return event
  const { entityId: _, ...whole } = event
  return whole
}

function defaultOnError(error: unknown): void {
  // oxlint-disable-next-line no-console -- the documented default of an injectable reporter
  console.error('[vinyasa] an invalidation listener failed:', error)
}
