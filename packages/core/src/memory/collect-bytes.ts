/** Chunks below this size are copied together: each would keep about 100 bytes of its own, and its whole read buffer. */
const SMALL_CHUNK = 4_096
const NOTHING = Buffer.alloc(0)
/** Chunks that a peer may send before their average size counts. */
const FREE_CHUNKS = 1_000
/** The least average size of the chunks after that: each costs a few microseconds whatever its size. */
const LEAST_AVERAGE = 64

/** Returns whether a message has so many tiny chunks that it should be refused. */
export function isShredded(chunks: number, bytes: number): boolean {
  return chunks > FREE_CHUNKS && bytes < chunks * LEAST_AVERAGE
}

/**
 * Collects the chunks of one message. It uses at most twice the memory of the received bytes, regardless of their
 * chunk size.
 */
export class ByteCollector {
  readonly #parts: Buffer[] = []
  #open: Buffer = NOTHING
  #used = 0
  #length = 0
  #small = 0
  #held = 0

  /** Number of received bytes. */
  get length(): number {
    return this.#length
  }

  /** Number of bytes in memory. */
  get heldBytes(): number {
    return this.#held
  }

  /** Whether the message has too many tiny chunks. Large chunks do not count. See the function `isShredded`. */
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

  /** Returns the complete message and clears the collector. */
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
