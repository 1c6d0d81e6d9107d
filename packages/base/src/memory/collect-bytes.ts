/** Chunks below this size are copied together: each would keep about 100 bytes of its own, and its whole read buffer. */
const SMALL_CHUNK = 4_096
const NOTHING = Buffer.alloc(0)
/** Chunks that a peer may send before their average size counts. */
const FREE_CHUNKS = 1_000
/** The least average size of the chunks after that: each costs a few microseconds whatever its size. */
const LEAST_AVERAGE = 64

/** Returns whether a peer split a message into so many tiny chunks that it should be refused. */
export function isShredded(chunks: number, bytes: number): boolean {
  return chunks > FREE_CHUNKS && bytes < chunks * LEAST_AVERAGE
}

/** Collects the chunks of one message. Its memory is at most twice the bytes that arrived, however they were split. */
export class ByteCollector {
  readonly #parts: Buffer[] = []
  #open: Buffer = NOTHING
  #used = 0
  #length = 0
  #small = 0
  #held = 0

  /** Bytes that arrived. */
  get length(): number {
    return this.#length
  }

  /** Bytes that they take in memory. */
  get heldBytes(): number {
    return this.#held
  }

  /** See the function; large chunks do not count. */
  get isShredded(): boolean {
    return isShredded(this.#small, this.#length)
  }

  add(chunk: Buffer): void {
    this.#length += chunk.length
    if (chunk.length >= SMALL_CHUNK || this.#length === chunk.length) {
      this.#closeOpen()
      this.#parts.push(chunk)
      this.#held += chunk.length
      return
    }
    this.#small++
    if (this.#used + chunk.length > this.#open.length) {
      this.#closeOpen()
      this.#open = Buffer.allocUnsafeSlow(Math.min(Math.max(this.#length, SMALL_CHUNK), 16 * SMALL_CHUNK))
      this.#held += this.#open.length
    }
    this.#used += chunk.copy(this.#open, this.#used)
  }

  /** Returns the whole message and forgets it. */
  take(): Buffer {
    this.#closeOpen()
    const [only] = this.#parts
    const whole = this.#parts.length === 1 && only ? only : Buffer.concat(this.#parts)
    this.clear()
    return whole
  }

  clear(): void {
    this.#parts.length = 0
    this.#open = NOTHING
    this.#used = this.#length = this.#small = this.#held = 0
  }

  #closeOpen(): void {
    if (this.#used === 0) return
    this.#parts.push(this.#open.subarray(0, this.#used))
    this.#open = this.#open.subarray(this.#used)
    this.#used = 0
  }
}
