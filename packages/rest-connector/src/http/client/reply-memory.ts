/** Replies up to here are nobody's trouble. */
export const LONG_REPLY_BYTES: number = 256 * 1024
/** The share of `maxBytes` that may lie ready for the next replies. */
const KEPT_SHARE = 1 / 4
/** How much larger memory may be than what it is used for. */
const LARGEST_WASTE = 4

/** Whoever reads a reply. A reply that was told to pause gets what is under way already, and no more. */
export interface ReplyFlow {
  pause(): void
  resume(): void
}

/** A long reply: it is coming, or it is worked on. */
export interface HeldReply {
  /** So many bytes more have come. */
  add(bytes: number): void
  /** It is over, whether it went well or not. */
  leave(): void
}

/**
 * The memory of a connector's long replies. When more has come than may be held, all of them wait but the oldest, until
 * others are through: a reply more than allowed, and what the sockets have read already, is all that there ever is. What
 * was used is used again, as V8 and the allocator below it let go of megabytes later than they come.
 */
export class ReplyMemory {
  readonly #maxBytes: number
  readonly #replies = new Set<Held>()
  readonly #free: Buffer[] = []
  #freeBytes = 0
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  enter(flow: ReplyFlow): HeldReply {
    const reply: Held = {
      flow,
      bytes: 0,
      isPaused: false,
      add: (bytes) => {
        reply.bytes += bytes
        this.#bytes += bytes
        if (reply.isPaused || this.#mayGoOn(reply)) return
        reply.isPaused = true
        flow.pause()
      },
      leave: () => {
        if (!this.#replies.delete(reply)) return
        this.#bytes -= reply.bytes
        for (const waiting of this.#replies) {
          if (!waiting.isPaused || !this.#mayGoOn(waiting)) continue
          waiting.isPaused = false
          waiting.flow.resume()
        }
      },
    }
    this.#replies.add(reply)
    return reply
  }

  /** Memory for so many bytes or more, with anything in it. */
  take(length: number): Buffer {
    const at = this.#free.findIndex(
      (buffer) => buffer.length >= length && buffer.length <= length * LARGEST_WASTE,
    )
    const [found] = at === -1 ? [] : this.#free.splice(at, 1)
    if (!found) return Buffer.allocUnsafeSlow(length)
    this.#freeBytes -= found.length
    return found
  }

  /** Nobody reads what is in it any more. */
  give(buffer: Buffer): void {
    if (this.#freeBytes + buffer.length > this.#maxBytes * KEPT_SHARE) return
    this.#free.push(buffer)
    this.#freeBytes += buffer.length
  }

  #mayGoOn(reply: Held): boolean {
    if (this.#bytes <= this.#maxBytes) return true
    const [oldest] = this.#replies
    return reply === oldest
  }
}

interface Held extends HeldReply {
  readonly flow: ReplyFlow
  bytes: number
  isPaused: boolean
}
