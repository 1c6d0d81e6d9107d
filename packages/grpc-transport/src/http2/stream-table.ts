import type { Http2Stream } from './stream.ts'

const FIRST_BUCKETS = 64

/**
 * The streams of a session by their ids. Not a `Map`: each time that one of these makes room, its old table points to the
 * new one and to what was in it. Once such a table is old garbage, all that runs through the map later survives every
 * collection of the young, with all that it leads to, until the next one of the old.
 */
export class StreamTable {
  #size = 0
  #buckets: (Http2Stream | undefined)[] = emptyBuckets(FIRST_BUCKETS)

  get size(): number {
    return this.#size
  }

  get(id: number): Http2Stream | undefined {
    let stream = this.#buckets[this.#bucketOf(id)]
    while (stream && stream.id !== id) stream = stream.next
    return stream
  }

  add(stream: Http2Stream): void {
    if (this.#size === this.#buckets.length) this.#grow()
    this.#size++
    this.#put(stream)
  }

  delete(stream: Http2Stream): void {
    const bucket = this.#bucketOf(stream.id)
    let before: Http2Stream | undefined
    let found = this.#buckets[bucket]
    while (found && found !== stream) {
      before = found
      found = found.next
    }
    if (!found) return
    if (before) before.next = stream.next
    else this.#buckets[bucket] = stream.next
    stream.next = undefined
    this.#size--
  }

  /** Returns the streams that are in it now, the first begun first. */
  all(): Http2Stream[] {
    const streams: Http2Stream[] = []
    for (const first of this.#buckets)
      for (let stream = first; stream; stream = stream.next) streams.push(stream)
    return streams.sort((a, b) => a.id - b.id)
  }

  #grow(): void {
    const streams = this.all()
    this.#buckets = emptyBuckets(2 * this.#buckets.length)
    for (const stream of streams) this.#put(stream)
  }

  #put(stream: Http2Stream): void {
    const bucket = this.#bucketOf(stream.id)
    stream.next = this.#buckets[bucket]
    this.#buckets[bucket] = stream
  }

  /** A client's streams have odd ids, one after the other. */
  #bucketOf(id: number): number {
    return (id >>> 1) & (this.#buckets.length - 1)
  }
}

/** A power of two. */
function emptyBuckets(count: number): (Http2Stream | undefined)[] {
  return Array.from({ length: count }, () => undefined)
}
