import {
  ByteCollector,
  type HeldReply,
  LONG_REPLY_BYTES,
  type ReplyFlow,
  type ReplyMemory,
} from '@vinyasa/core'

/** Chunks that an upstream may send before their average size counts: some write each row of an answer by itself. */
const FREE_CHUNKS = 4_000
/** The least average size of the chunks after that: each costs a few microseconds whatever its size. */
const LEAST_AVERAGE = 16

/** The body of a response while it arrives. Its memory is at most twice its bytes, however they were split. */
export class ReceivedBody {
  readonly #maxBytes: number
  readonly #memory: ReplyMemory
  readonly #chunks = new ByteCollector()
  #size = 0
  #count = 0
  /** A buffer of the stated length, which the bytes are copied to. */
  #whole: Buffer | undefined
  /** A buffer that is given back. */
  #taken: Buffer | undefined
  /** The memory of a long body. */
  #held: HeldReply | undefined

  constructor(maxBytes: number, memory: ReplyMemory) {
    this.#maxBytes = maxBytes
    this.#memory = memory
  }

  /** Whether `release` frees anything. */
  get isLong(): boolean {
    return this.#held !== undefined
  }

  /** Whether the upstream sends so many tiny chunks that it should be refused. */
  get isShredded(): boolean {
    return this.#count > FREE_CHUNKS && this.#size < this.#count * LEAST_AVERAGE
  }

  /**
   * Adds a chunk. Returns false if the body is larger than allowed.
   * @param contentLength The value of the header.
   */
  add(chunk: Buffer, contentLength: unknown, flow: ReplyFlow): boolean {
    const maxBytes = this.#maxBytes
    const at = this.#size
    this.#size += chunk.length
    this.#count++
    if (this.#size > maxBytes) return false
    const length = at === 0 ? Number(contentLength) : 0
    if (length > this.#size && length <= maxBytes) this.#whole = this.#memoryFor(length)
    if (!this.#whole) this.#chunks.add(chunk)
    else if (this.#size <= this.#whole.length) chunk.copy(this.#whole, at)
    else {
      // An intermediary can unpack bodies and leave the stated length as it was.
      if (at > 0) this.#chunks.add(Buffer.from(this.#whole.subarray(0, at)))
      this.#chunks.add(chunk)
      this.#whole = undefined
    }
    if (this.#size > LONG_REPLY_BYTES) this.#hold(chunk.length, flow)
    return true
  }

  /** Returns the body. Read it before `release`. */
  whole(): Buffer {
    return this.#whole ? this.#whole.subarray(0, this.#size) : this.#chunks.take()
  }

  /** Frees the memory of the body. */
  release(): void {
    this.#held?.leave()
    const taken = this.#taken
    this.#taken = undefined
    if (taken) this.#memory.give(taken)
  }

  #memoryFor(length: number): Buffer {
    // Pages that nothing is written to take no memory.
    if (length <= LONG_REPLY_BYTES) return Buffer.allocUnsafeSlow(length)
    this.#taken = this.#memory.take(length)
    return this.#taken
  }

  #hold(bytes: number, flow: ReplyFlow): void {
    const isFirst = this.#held === undefined
    this.#held ??= this.#memory.enter(undefined, flow)
    this.#held.add(isFirst ? this.#size : bytes)
  }
}
