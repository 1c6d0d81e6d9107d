import type { Place, Room } from './room.ts'

/** A map from texts that clients send to what follows from them, in a room that it may share with others. */
export interface Recent<Value> {
  get(key: string): Value | undefined
  /** In the place of what the key had. `size`: of key and value together. */
  set(key: string, value: Value, size: number, whole?: Place): Place
  clear(): void
}

interface Entry<Value> {
  readonly value: Value
  place?: Place
}

/** Keeps what is used, while there is room for it: see `createRoom`. To ask costs no more than a lookup. */
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
