import type { BatchName } from '@vinyasa/invalidation'
import type { CacheEntry } from './entry.ts'
import type { Tags } from './tags.ts'

export interface RemoteRead {
  /**
   * Present and valid, or absent. Its `version` is that of the cache that wrote it where that is this
   * very cache, else any larger number.
   */
  readonly entry: CacheEntry | undefined
  /** The store's own version before the execution that may follow. */
  readonly version: number
}

/** Something happened in the store that this process did not do. */
export type RemoteEvent =
  | { readonly type: 'invalidated'; readonly tags: Tags }
  /** The store cannot vouch for its news any more: what memory holds may be outdated. */
  | { readonly type: 'down'; readonly error: unknown }
  | { readonly type: 'up' }

/** A store that several processes share, behind the memory of each. */
export interface RemoteStore {
  /** Undefined: the store is not reachable; the request is answered without any cache. */
  read(key: string): Promise<RemoteRead | undefined>
  /** Stores the entry unless one of its tags was invalidated since `version`. */
  write(key: string, entry: CacheEntry, version: number): Promise<boolean>
  /**
   * Resolves when the store knows, or is known to be away. The name is that of the events: where they are another process's, and
   * that has told the store of the same tags under it, there is nothing left to tell.
   */
  invalidate(tags: Tags, name?: BatchName): Promise<void>
  delete(key: string): Promise<void>
  /**
   * Says that something is about to be changed, before it is; the returned function, that it was, and was invalidated.
   * A process that ends in between has told nobody what it changed: the store evicts everything then. Without it, what
   * a process had changed when it was killed stays until it expires.
   */
  changing?(): Promise<() => void>
  /**
   * Tells of invalidations by other processes. A store without it is read on every request, as memory
   * in front of it could outlive an invalidation made elsewhere.
   */
  subscribe?(listener: (event: RemoteEvent) => void): () => void
  close(): Promise<void>
}
