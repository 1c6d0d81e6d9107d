/**
 * Chunks below this size are copied into a common buffer. A separate small chunk would take about 100
 * additional bytes and keep its complete read buffer in memory.
 */
const SMALL_CHUNK = 4_096
const NOTHING = Buffer.alloc(0)
/** Number of chunks that a peer can send before their average size is checked. */
const FREE_CHUNKS = 1_000
/**
 * Minimum average chunk size after `FREE_CHUNKS` chunks. Each chunk costs a few microseconds, regardless of
 * its size.
 */
const LEAST_AVERAGE = 64

/** Returns whether a message should be refused because it has too many tiny chunks. */
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
