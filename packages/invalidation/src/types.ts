/**
 * Describes a change in a backend. Specification: "Invalidation event". `*` stands for any type or any operation.
 * `{ entityType: '*', operation: '*' }` means that any data can have changed, for example after lost events. Caches
 * then drop all entries and live queries re-execute.
 */
export interface InvalidationEvent {
  /** The GraphQL object type that changed, for example `User`. */
  readonly entityType: string
  /** The kind of change, in lower case: usually `create`, `update` or `delete`. */
  readonly operation: string
  /** Id of the changed entity. An absent or empty id means that all entities of the type can have changed. */
  readonly entityId?: string | undefined
}

/** Any data can have changed. */
export const ANYTHING: readonly InvalidationEvent[] = [{ entityType: '*', operation: '*' }]

/** Identifies one batch of events on a bus between processes. */
export interface BatchName {
  /** Id of the process that published the batch. */
  readonly origin: string
  /** Number of the batch, counted by that process. */
  readonly n: number
  /** Whether this process published the batch. */
  readonly isOwn: boolean
}

/**
 * Receives each published batch as one call, in order. `publish` awaits a returned promise. `name` is absent if other
 * processes do not receive the batch, or do not receive it under that name.
 */
export type InvalidationListener = (
  events: readonly InvalidationEvent[],
  name?: BatchName,
) => void | Promise<void>

/**
 * Phase of a listener within one `publish`. A phase starts when all listeners of the previous phase have finished:
 * - `forget`: in-flight reads that began before the change are no longer shared;
 * - `evict`: caches evict entries that the change made stale;
 * - `react`: live queries re-execute.
 */
export type InvalidationPhase = 'forget' | 'evict' | 'react'

export interface SubscribeOptions {
  /** Phase in which the listener runs. Default `react`. */
  readonly phase?: InvalidationPhase | undefined
}

/** Interface between sources, caches and live queries. */
export interface InvalidationBus {
  /**
   * Publishes changes that the backend has committed. Resolves when every listener of this process has applied them.
   * A mutation that awaits it therefore responds after caches and live queries received the events. A bus between
   * processes also waits a short time for the listeners of the other processes. The promise never rejects: the bus
   * reports a failed listener to `onError` and calls the remaining listeners.
   *
   * A bus between processes names the batch. It passes that name on if it publishes over another bus.
   */
  publish(events: readonly InvalidationEvent[], name?: BatchName): Promise<void>
  /**
   * Whether the bus receives all changes of other processes. While it is `false`, caches that rely on the bus do not
   * serve entries, and reads in flight are not shared. The bus publishes the missed events, or
   * `{ entityType: '*', operation: '*' }`, before it becomes `true` again. Absent means `true`.
   */
  readonly isInTouch?: boolean | undefined
  /**
   * Maximum age in milliseconds of cache entries to serve while another process is missing, because its changes can
   * go unpublished. Absent means that caches serve entries for their full lifetime.
   */
  readonly maxAgeMs?: number | undefined
  /** Adds a listener. Returns a function that removes it. */
  subscribe(listener: InvalidationListener, options?: SubscribeOptions): () => void
}
