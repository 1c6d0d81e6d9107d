import type { BatchName } from '@vinyasa/invalidation'
import type { CacheEntry } from './entry.ts'
import type { Tags } from './tags.ts'

export interface RemoteRead {
  /**
   * The entry if it exists and is valid. Its `version` is that of the cache that wrote it, if this is the same cache.
   * Otherwise it is a larger number.
   */
  readonly entry: CacheEntry | undefined
  /** The store's version before a possible execution. */
  readonly version: number
}

/** An event in the store that another process caused. */
export type RemoteEvent =
  | { readonly type: 'invalidated'; readonly tags: Tags }
  /** The store cannot guarantee its events, so memory can be outdated. */
  | { readonly type: 'down'; readonly error: unknown }
  | { readonly type: 'up' }

/** A store that several processes share in addition to their memory. */
export interface RemoteStore {
  /** Reads an entry. Returns `undefined` if the store is unreachable; the request is then served without the cache. */
  read(key: string): Promise<RemoteRead | undefined>
  /** Stores the entry unless one of its tags was invalidated since `version`. */
  write(key: string, entry: CacheEntry, version: number): Promise<boolean>
  /**
   * Resolves when the store has the invalidation, or is known to be unreachable. `name` identifies a batch of events.
   * If another process already sent the same tags for the batch, nothing is sent.
   */
  invalidate(tags: Tags, name?: BatchName): Promise<void>
  delete(key: string): Promise<void>
  /**
   * Marks the start of a change; the returned function marks its end, after the invalidation. If a process ends in
   * between, its changes are unknown, and the store evicts everything. Without this method, entries stay until they
   * expire if a process is killed during a change.
   */
  changing?(): Promise<() => void>
  /**
   * Subscribes to invalidations of other processes. A store without this method is read for every request, because
   * memory could be outdated.
   */
  subscribe?(listener: (event: RemoteEvent) => void): () => void
  close(): Promise<void>
}
