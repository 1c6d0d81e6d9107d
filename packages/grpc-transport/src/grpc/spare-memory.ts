/** Bytes that lie ready at most. */
const KEPT_BYTES = 8 * 1024 * 1024

/** Memory that messages outgrow while they come, for the next ones to grow in. */
export class SpareMemory {
  readonly #free: Buffer[] = []
  #bytes = 0

  /** So many bytes, with anything in them. */
  take(length: number): Buffer {
    const at = this.#free.findIndex((buffer) => buffer.length === length)
    const [found] = at === -1 ? [] : this.#free.splice(at, 1)
    if (!found) return Buffer.allocUnsafeSlow(length)
    this.#bytes -= length
    return found
  }

  /** Nobody reads what is in it any more. */
  give(buffer: Buffer): void {
    if (this.#bytes + buffer.length > KEPT_BYTES) return
    this.#free.push(buffer)
    this.#bytes += buffer.length
  }
}
