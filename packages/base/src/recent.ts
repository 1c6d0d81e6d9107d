export interface RecentOptions {
  readonly maxEntries: number
  /** Characters of all keys together: what is kept of a text grows with it. Default: no bound. */
  readonly maxCharacters?: number
}

/** A bounded map from texts that clients send to what follows from them. */
export interface Recent<Value> {
  readonly size: number
  get(key: string): Value | undefined
  /** In the place of what the key had. */
  set(key: string, value: Value): void
  clear(): void
}

interface Entry<Value> {
  value: Value
  /** Was asked for since it was last looked at for leaving. */
  isUsed: boolean
}

/**
 * Keeps what is used: where there is no room, the oldest leaves that was not asked for since it last came to its turn, so that
 * a thousand texts that come once do not push out the one that all ask for. To ask costs no more than a lookup: the map is
 * not put in another order, which would make it old garbage (an LRU's way).
 */
export function createRecent<Value>({ maxEntries, maxCharacters = Infinity }: RecentOptions): Recent<Value> {
  const entries = new Map<string, Entry<Value>>()
  let characters = 0

  function makeRoom(): void {
    for (const [key, entry] of entries) {
      if (entries.size <= maxEntries && characters <= maxCharacters) return
      entries.delete(key)
      if (entry.isUsed) {
        entry.isUsed = false
        // Behind all others: this loop comes to it again only if nothing else may leave.
        entries.set(key, entry)
      } else characters -= key.length
    }
  }

  return {
    get size() {
      return entries.size
    },
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entry.isUsed = true
      return entry.value
    },
    set(key, value) {
      const entry = entries.get(key)
      if (entry) {
        entry.value = value
        return
      }
      entries.set(key, { value, isUsed: false })
      characters += key.length
      makeRoom()
    },
    clear() {
      entries.clear()
      characters = 0
    },
  }
}
