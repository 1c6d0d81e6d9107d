/** Entries that are added before the map is made anew, however few there are. */
const LEAST = 64

/**
 * A map for what comes and goes all the time, as calls under way do. Each time that a `Map` makes room, its old table points
 * to the new one and to what was in it: once such a table is old garbage, all that runs through the map later survives every
 * collection of the young, with all that it leads to, until the next one of the old. So the `Map` in here is another one
 * before it grows old.
 */
export class PassingMap<Key, Value> {
  #map = new Map<Key, Value>()
  #added = 0

  get size(): number {
    return this.#map.size
  }

  get(key: Key): Value | undefined {
    return this.#map.get(key)
  }

  has(key: Key): boolean {
    return this.#map.has(key)
  }

  set(key: Key, value: Value): void {
    if (++this.#added > Math.max(LEAST, 2 * this.#map.size)) {
      this.#map = new Map(this.#map)
      this.#added = 0
    }
    this.#map.set(key, value)
  }

  values(): IterableIterator<Value> {
    return this.#map.values()
  }

  delete(key: Key): void {
    this.#map.delete(key)
  }

  clear(): void {
    this.#map = new Map()
    this.#added = 0
  }
}
