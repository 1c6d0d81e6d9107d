import { LONG_REPLY_BYTES, type HeldReply, type ReplyFlow, type ReplyMemory } from './reply-memory.ts'

/** A body as it comes. Of one whose length is known nothing is kept twice: pieces go where they belong at once. */
export class ReceivedBody {
  readonly #maxBytes: number
  readonly #memory: ReplyMemory
  readonly #chunks: Buffer[] = []
  #size = 0
  #whole: Buffer | undefined
  /** Memory that is given back. */
  #taken: Buffer | undefined
  #held: HeldReply | undefined

  constructor(maxBytes: number, memory: ReplyMemory) {
    this.#maxBytes = maxBytes
    this.#memory = memory
  }

  /** Whether `release` has anything to do. */
  get isLong(): boolean {
    return this.#held !== undefined
  }

  /** `contentLength`: what the answer's header says. False: there is more than there may be. */
  add(chunk: Buffer, contentLength: unknown, flow: ReplyFlow): boolean {
    const maxBytes = this.#maxBytes
    const at = this.#size
    this.#size += chunk.length
    if (this.#size > maxBytes) return false
    const length = at === 0 ? Number(contentLength) : 0
    if (length > this.#size && length <= maxBytes) this.#whole = this.#memoryFor(length)
    if (!this.#whole) this.#chunks.push(chunk)
    else if (this.#size <= this.#whole.length) chunk.copy(this.#whole, at)
    else {
      // An intermediary may unpack bodies, and leave the stated length as it was.
      this.#chunks.push(Buffer.from(this.#whole.subarray(0, at)), chunk)
      this.#whole = undefined
    }
    if (this.#size > LONG_REPLY_BYTES) this.#hold(chunk.length, flow)
    return true
  }

  /** To be read before `release`. */
  whole(): Buffer {
    if (this.#whole) return this.#whole.subarray(0, this.#size)
    const [first] = this.#chunks
    if (this.#chunks.length === 1 && first) return first
    const whole = this.#memoryFor(this.#size)
    let at = 0
    for (const chunk of this.#chunks.splice(0)) at += chunk.copy(whole, at)
    this.#whole = whole
    return whole.subarray(0, this.#size)
  }

  /** Nothing more comes, and what came was read or is not wanted. */
  release(): void {
    this.#held?.leave()
    const taken = this.#taken
    this.#taken = undefined
    if (taken) this.#memory.give(taken)
  }

  #memoryFor(length: number): Buffer {
    // Pages that nothing is written to take no memory.
    if (length <= LONG_REPLY_BYTES || this.#taken) return Buffer.allocUnsafeSlow(length)
    this.#taken = this.#memory.take(length)
    return this.#taken
  }

  #hold(bytes: number, flow: ReplyFlow): void {
    const isFirst = this.#held === undefined
    this.#held ??= this.#memory.enter(flow)
    this.#held.add(isFirst ? this.#size : bytes)
  }
}
