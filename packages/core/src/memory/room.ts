/** Entry in a room, which can be evicted. */
export interface Place {
  readonly isLeft: boolean
  /** Marks the entry and its parent as used. Unused entries are evicted first. */
  use(): void
  /**
   * Adds a part of the entry. It is evicted with the entry, or before it. `forget` is called once on
   * eviction. It is called immediately if the part is too large or no other entry can be evicted.
   */
  hold(size: number, forget: () => void): Place
  leave(): void
}

/** Memory limit that several caches share. */
export interface Room {
  /** Total size of all entries. */
  readonly size: number
  /** Adds an entry. See `Place.hold`. */
  hold(size: number, forget: () => void): Place
}

/** Maximum part of the limit for a single entry. Larger entries are not kept. */
const LARGEST = 1 / 16

/**
 * Creates a memory limit for values derived from client input. If it is full, the oldest entry is evicted, unless it
 * was used since it was last considered. Many one-off entries therefore do not evict a popular entry. Unlike an LRU,
 * reads do not reorder entries, which would create garbage in V8's old generation. Entries over 1/16 of the limit are
 * not kept.
 */
export function createRoom(maxSize: number): Room {
  const kept = new Set<Held>()
  let taken = 0

  class Held implements Place {
    readonly size: number
    readonly #forget: () => void
    readonly #whole: Held | undefined
    #parts: Set<Held> | undefined
    isUsed = false

    constructor(size: number, forget: () => void, whole: Held | undefined) {
      this.size = size
      this.#forget = forget
      this.#whole = whole
    }

    get isLeft(): boolean {
      return !kept.has(this)
    }

    use(): void {
      this.isUsed = true
      this.#whole?.use()
    }

    hold(size: number, forget: () => void): Place {
      const part = new Held(size, forget, this)
      if (this.isLeft) forget()
      else {
        ;(this.#parts ??= new Set()).add(part)
        admit(part)
      }
      return part
    }

    leave(): void {
      if (!kept.delete(this)) return
      taken -= this.size
      if (this.#whole) this.#whole.#parts?.delete(this)
      this.#forget()
      for (const part of this.#parts ?? []) part.leave()
    }
  }

  function admit(place: Held): void {
    kept.add(place)
    taken += place.size
    if (place.size > maxSize * LARGEST) return place.leave()
    for (const oldest of kept) {
      if (taken <= maxSize) return
      if (!oldest.isUsed) oldest.leave()
      else {
        oldest.isUsed = false
        // The entry moves to the end. The loop reaches it again only if it cannot evict any other entry.
        kept.delete(oldest)
        kept.add(oldest)
      }
    }
  }

  return {
    get size() {
      return taken
    },
    hold(size, forget) {
      const place = new Held(size, forget, undefined)
      admit(place)
      return place
    },
  }
}

const places = new WeakMap<object, Place>()

/** Registers the entry of an object, so that derived values become parts of it. */
export function notePlace(owner: object, place: Place): void {
  places.set(owner, place)
}

/** Returns the entry of an object until it is evicted. */
export function placeOf(owner: object): Place | undefined {
  const place = places.get(owner)
  return place?.isLeft === false ? place : undefined
}
