import type { Place, Room } from './room.ts'

/** Bounded cache from client input to derived values. Several caches can share one memory limit. */
export interface Recent<Value> {
  get(key: string): Value | undefined
  /** Sets the value of a key. `size` is the size of key and value together. */
  set(key: string, value: Value, size: number, whole?: Place): Place
  clear(): void
}

interface Entry<Value> {
  readonly value: Value
  place?: Place
}

/** Creates a cache in a room. See `createRoom` for the eviction order. A lookup does not reorder entries. */
export function createRecent<Value>(room: Room): Recent<Value> {
  const entries = new Map<string, Entry<Value>>()
  return {
    get(key) {
      const entry = entries.get(key)
      entry?.place?.use()
      return entry?.value
    },
    set(key, value, size, whole) {
      entries.get(key)?.place?.leave()
      const entry: Entry<Value> = { value }
      entries.set(key, entry)
      return (entry.place = (whole ?? room).hold(size, () => void entries.delete(key)))
    },
    clear() {
      for (const { place } of entries.values()) place?.leave()
    },
  }
}
