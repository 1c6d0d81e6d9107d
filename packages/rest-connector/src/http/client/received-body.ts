/** A body as it comes. Of one whose length is known nothing is kept twice: pieces go where they belong at once. */
export class ReceivedBody {
  readonly #maxBytes: number
  readonly #chunks: Buffer[] = []
  #size = 0
  #whole: Buffer | undefined

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** `contentLength`: what the answer's header says. False: there is more than there may be. */
  add(chunk: Buffer, contentLength: unknown): boolean {
    const at = this.#size
    this.#size += chunk.length
    if (this.#size > this.#maxBytes) return false
    const length = at === 0 ? Number(contentLength) : 0
    // Pages that nothing is written to take no memory.
    if (length > this.#size && length <= this.#maxBytes) this.#whole = Buffer.allocUnsafeSlow(length)
    if (!this.#whole) this.#chunks.push(chunk)
    else if (this.#size <= this.#whole.length) chunk.copy(this.#whole, at)
    else {
      // What stands before a client may unpack bodies, and leave the length as it was.
      this.#chunks.push(this.#whole.subarray(0, at), chunk)
      this.#whole = undefined
    }
    return true
  }

  whole(): Buffer {
    if (this.#whole) return this.#whole.subarray(0, this.#size)
    const [first] = this.#chunks
    return this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks, this.#size)
  }
}
