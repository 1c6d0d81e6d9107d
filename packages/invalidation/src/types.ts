/**
 * Something changed in a backend. Specification: "Invalidation event".
 * `*` stands for any type or any operation: `{ entityType: '*', operation: '*' }` says that anything may have changed,
 * as after a gap between gateways. A cache drops everything then, a live query runs again.
 */
export interface InvalidationEvent {
  /** The GraphQL object type that changed, for example `User`. */
  readonly entityType: string
  /** The kind of change, in lower case: usually `create`, `update` or `delete`. */
  readonly operation: string
  /** The entity that changed. Absent or empty: any entity of the type may have. */
  readonly entityId?: string | undefined
}

/** Tells one batch of a bus between processes from all others. */
export interface BatchName {
  /** The process that published it. */
  readonly origin: string
  /** Its count of batches. */
  readonly n: number
  /** Whether that was this process. */
  readonly isOwn: boolean
}

/**
 * Receives each published batch whole and in order. A returned promise is awaited by `publish`. The name is absent where no
 * other process has the batch, or hears of it by that name.
 */
export type InvalidationListener = (
  events: readonly InvalidationEvent[],
  name?: BatchName,
) => void | Promise<void>

/**
 * When a listener runs within one `publish`. All listeners of a phase finish before the first of the next one starts:
 * - `forget`: reads under way are let go, so that nobody joins one that began before the change;
 * - `evict`: caches drop what the change made old;
 * - `react`: live queries run again.
 */
export type InvalidationPhase = 'forget' | 'evict' | 'react'

export interface SubscribeOptions {
  /** Default `react`. */
  readonly phase?: InvalidationPhase | undefined
}

/** The one contract that sources, caches and live queries share. */
export interface InvalidationBus {
  /**
   * Announces changes that the backend has committed. Resolves when every listener of this process
   * has applied them, so a mutation that awaits it answers after caches and live queries know; a bus between processes
   * waits for theirs, too, for a short while.
   * Never rejects: a listener that fails is reported to `onError` and does not hold back the others.
   *
   * A bus between processes gives the batch a name; where it publishes over another one, it hands that the name.
   */
  publish(events: readonly InvalidationEvent[], name?: BatchName): Promise<void>
  /**
   * False while changes of others may go unheard: caches of this process that only the bus keeps fresh do not answer
   * then, and nobody joins a read under way. What was missed, or `{ '*', '*' }`, is announced before it is true again.
   * Absent: always in touch.
   */
  readonly isInTouch?: boolean | undefined
  /**
   * While another process is missing that may change something and tell nobody: the milliseconds after which caches of this
   * one give out nothing that they keep. Absent: as long as it is fresh.
   */
  readonly maxAgeMs?: number | undefined
  /** Adds a listener; the returned function removes it. */
  subscribe(listener: InvalidationListener, options?: SubscribeOptions): () => void
}
