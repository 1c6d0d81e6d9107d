import type { CacheEntry } from './entry.ts'

/** Entries of this process, the least recently used leaving first. */
export interface MemoryStore {
  get(key: string): CacheEntry | undefined
  set(key: string, entry: CacheEntry): void
  delete(key: string): boolean
  clear(): void
  readonly size: number
}

export function createMemoryStore(maxSize: number, onEvict: (key: string) => void): MemoryStore {
  // A Map keeps insertion order: reading moves an entry to the end, the first one is the oldest.
  const entries = new Map<string, CacheEntry>()
  return {
    get(key) {
      const entry = entries.get(key)
      if (!entry) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry
    },
    set(key, entry) {
      entries.delete(key)
      entries.set(key, entry)
      if (entries.size <= maxSize) return
      const oldest = entries.keys().next().value
      if (oldest === undefined) return
      entries.delete(oldest)
      onEvict(oldest)
    },
    delete: (key) => entries.delete(key),
    clear: () => entries.clear(),
    get size() {
      return entries.size
    },
  }
}
