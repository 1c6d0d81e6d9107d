import type { CacheEntry } from './entry.ts'

/** Read before an execution; a result may be stored only while it still holds. */
export interface Ticket {
  readonly version: number
  /** The shared store's version. Absent: the store is not reachable, nothing is stored. */
  readonly remoteVersion: number | undefined
}

export type Lookup =
  | { readonly state: 'fresh' | 'stale'; readonly entry: CacheEntry; readonly ticket: Ticket }
  | { readonly state: 'miss'; readonly ticket: Ticket }
  /** The shared store is down: answer without a cache. */
  | { readonly state: 'unavailable' }
