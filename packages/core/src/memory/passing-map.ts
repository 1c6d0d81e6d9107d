/** Minimum number of added entries before the inner map is recreated. */
const LEAST = 64

/**
 * Map for short-lived entries, such as calls in flight. It recreates its inner `Map` regularly. V8 would keep
 * removed entries of a long-lived `Map` alive until a full garbage collection.
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
