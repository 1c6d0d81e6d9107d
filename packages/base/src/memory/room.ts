/** A place in a room: something that is kept, and may have to leave. */
export interface Place {
  readonly isLeft: boolean
  /** It was asked for, and so was what it is a part of: neither leaves while there is something that nobody asks for. */
  use(): void
  /**
   * Keeps a part of it, which may leave before it and leaves with it. `forget` is called then, once: at once where the
   * part is too large, or nothing else may leave.
   */
  hold(size: number, forget: () => void): Place
  leave(): void
}

/** Bounded room for things of several kinds. */
export interface Room {
  /** The size of all that is kept. */
  readonly size: number
  /** See `Place.hold`. */
  hold(size: number, forget: () => void): Place
}

/** The part of a room that one thing may take: what is larger is not kept. */
const LARGEST = 1 / 16

/**
 * Creates room for what is kept of texts that clients send. Where there is no more, the oldest leaves that was not asked for
 * since it last came to its turn, so that a thousand texts that come once do not push out the one that all ask for. Nothing
 * is put in another order when it is asked for, which would make it old garbage (an LRU's way).
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
        // Behind all others: this loop comes to it again only if nothing else may leave.
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

/** Notes the place of an object, for all that is worked out of it to have its room there. */
export function notePlace(owner: object, place: Place): void {
  places.set(owner, place)
}

/** The place of an object, while it is kept. */
export function placeOf(owner: object): Place | undefined {
  const place = places.get(owner)
  return place?.isLeft === false ? place : undefined
}
