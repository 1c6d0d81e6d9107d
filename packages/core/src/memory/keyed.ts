import type { Place, Room } from './room.ts'
import type { Clock } from '../time/clock.ts'

interface Made<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): unknown
}

/** Caches the result of a function by its argument. Entries are never evicted by default, so use it for few keys. */
export function keyed<Key, Value>(
  make: (key: Key) => Value,
  made: Made<Key, Value> = new Map(),
): (key: Key) => Value {
  return (key) => {
    const known = made.get(key)
    if (known !== undefined) return known
    const value = make(key)
    made.set(key, value)
    return value
  }
}

/** Bounded cache from client input to derived values. Several caches can share one memory limit. */
interface Recent<Value> {
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

/** Keys that expire in the same second are removed together. */
const SLOT_MS = 1_000
/** Maximum number of keys that are removed without a pause. Removing them takes a few milliseconds. */
const MAX_REMOVED = 10_000
const PAUSE_MS = 20

/** Expiry times of the entries of a cache. */
export interface Expiry {
  /** Adds a key. `expiresAt` is a time of the clock; `Infinity` means never. */
  add(key: string, expiresAt: number): void
  /** Removes a key. `expiresAt` must be the value that was added. */
  drop(key: string, expiresAt: number): void
  clear(): void
}

/**
 * Calls `remove` for each key within two seconds after it expires. More than 10,000 keys that expire together are
 * removed in parts. It only visits expired keys, because iterating over a million entries of an `LRUCache` takes half
 * a second. The timer is stopped while there are no keys.
 */
export function createExpiry(remove: (key: string) => void, clock: Clock): Expiry {
  const slots = new Map<number, Set<string>>()
  let timer: unknown

  const slotOf = (time: number): number => Math.ceil(time / SLOT_MS)

  function removeExpired(): void {
    timer = undefined
    const current = slotOf(clock.now())
    let removed = 0
    for (const [slot, keys] of slots) {
      if (slot >= current) continue
      for (const key of keys) {
        if (++removed > MAX_REMOVED) return arm(PAUSE_MS)
        keys.delete(key)
        remove(key)
      }
      slots.delete(slot)
    }
    arm(SLOT_MS)
  }

  function arm(ms: number): void {
    if (slots.size > 0) timer ??= clock.setTimeout(removeExpired, ms)
  }

  function disarm(): void {
    clock.clearTimeout(timer)
    timer = undefined
  }

  return {
    add(key, expiresAt) {
      if (expiresAt === Infinity) return
      const slot = slotOf(expiresAt)
      const keys = slots.get(slot)
      if (keys) keys.add(key)
      else slots.set(slot, new Set([key]))
      arm(SLOT_MS)
    },
    drop(key, expiresAt) {
      const slot = slotOf(expiresAt)
      const keys = slots.get(slot)
      if (keys?.delete(key) && keys.size === 0) slots.delete(slot)
      if (slots.size === 0) disarm()
    },
    clear() {
      slots.clear()
      disarm()
    },
  }
}

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

/** Stores one private value per object for the lifetime of the object. */
export interface Attachment<Value> {
  get(owner: object): Value | undefined
  set(owner: object, value: Value): void
}

/**
 * Base class whose constructor returns `owner`. The private fields of a derived class are therefore added to
 * `owner`.
 */
const Given = function (owner: object): object {
  return owner
} as unknown as new (owner: object) => object

/**
 * Creates an alternative to a `WeakMap` for data of one request. The value is a private field of the object, also on
 * proxies and frozen objects. V8 keeps values of an old `WeakMap` alive longer than necessary.
 */
export function createAttachment<Value>(): Attachment<Value> {
  /** Values of objects that refuse private fields. Future engines can refuse private fields on frozen objects. */
  const others = new WeakMap<object, Value>()

  class Held extends Given {
    #value: Value

    constructor(owner: object, value: Value) {
      super(owner)
      this.#value = value
    }

    static get(owner: object): Value | undefined {
      return #value in owner ? owner.#value : others.get(owner)
    }

    static set(owner: object, value: Value): void {
      if (#value in owner) owner.#value = value
      else
        try {
          void new Held(owner, value)
        } catch {
          others.set(owner, value)
        }
    }
  }

  return Held
}
