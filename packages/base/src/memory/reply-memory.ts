import type { Transform } from 'node:stream'
import { ownerOfWork } from '../fair-queue.ts'
import type { Abortable } from '../ending.ts'
import { onAbort } from '../on-abort.ts'
import { type Holding, type Ledger, processLedger } from './ledger.ts'

/** Shorter replies are not counted. */
export const LONG_REPLY_BYTES: number = 256 * 1024
/** Bytes of unpacked replies above which all of them but the oldest wait. */
const UNPACKED_BYTES = 8 * 1024 * 1024
/** Further bytes that are expected of a reply that goes on. */
const EXPECTED_BYTES = 4 * 1024 * 1024
/** The share of these bytes that is kept for the buffers of the next replies. */
const KEPT_SHARE = 1 / 4
/** How much larger a reused buffer can be than the reply that needs it. */
const LARGEST_WASTE = 4

/** The source of a reply's bytes: a connection, or what unpacks them. After `pause` a few more chunks can arrive. */
export interface ReplyFlow {
  pause(): void
  resume(): void
  /** Ends the reply: the ledger of the process is full and its owner holds most. */
  refuse(): void
}

/** The memory of one long reply, from its first bytes until it was parsed. */
export interface HeldReply {
  add(bytes: number): void
  /** Frees the memory. Later calls do nothing. */
  leave(): void
}

/**
 * Counts long replies of backends in a ledger and paces them: above `pacedBytes` all of them wait but the oldest, so that
 * many replies at once take as much memory as a few. It reuses buffers, because V8 frees megabytes later than they arrive.
 * Replies of different backends must not share one: they would wait while the oldest one's backend stalls.
 */
export class ReplyMemory {
  readonly #ledger: Ledger
  readonly #pacedBytes: number
  readonly #replies = new Set<Held>()
  readonly #free: Buffer[] = []
  #freeBytes = 0
  #bytes = 0

  constructor(ledger: Ledger, pacedBytes: number) {
    this.#ledger = ledger
    this.#pacedBytes = Math.min(pacedBytes, ledger.maxBytes / 2)
  }

  /** @param owner See `Ledger.hold`. */
  enter(owner: unknown, flow: ReplyFlow): HeldReply {
    const holding = this.#ledger.hold(owner, 0, () => {
      reply.leave()
      flow.refuse()
    })
    const reply: Held = {
      flow,
      holding,
      bytes: 0,
      isPaused: false,
      add: (bytes) => {
        if (!this.#replies.has(reply)) return
        reply.bytes += bytes
        this.#bytes += bytes
        holding.resize(reply.bytes)
        if (reply.isPaused || !this.#replies.has(reply) || this.#mayGoOn(reply)) return
        reply.isPaused = true
        flow.pause()
      },
      leave: () => {
        if (!this.#replies.delete(reply)) return
        this.#bytes -= reply.bytes
        holding.release()
        this.#resume()
      },
    }
    this.#replies.add(reply)
    return reply
  }

  /** Returns a buffer of at least `length` bytes with arbitrary content. */
  take(length: number): Buffer {
    const at = this.#free.findIndex(
      (buffer) => buffer.length >= length && buffer.length <= length * LARGEST_WASTE,
    )
    const [found] = at === -1 ? [] : this.#free.splice(at, 1)
    if (!found) return Buffer.allocUnsafeSlow(length)
    this.#freeBytes -= found.length
    return found
  }

  /** Takes back a buffer that is no longer read. */
  give(buffer: Buffer): void {
    if (this.#freeBytes + buffer.length > this.#pacedBytes * KEPT_SHARE) return
    this.#free.push(buffer)
    this.#freeBytes += buffer.length
  }

  /** Resumes the oldest replies, as many as are expected to fit. */
  #resume(): void {
    let room = this.#pacedBytes - this.#bytes
    const [oldest] = this.#replies
    for (const reply of this.#replies) {
      if (room <= 0 && reply !== oldest) return
      if (!reply.isPaused) continue
      room -= EXPECTED_BYTES
      reply.isPaused = false
      reply.flow.resume()
    }
  }

  #mayGoOn(reply: Held): boolean {
    if (this.#bytes <= this.#pacedBytes) return true
    const [oldest] = this.#replies
    return reply === oldest
  }
}

interface Held extends HeldReply {
  readonly flow: ReplyFlow
  readonly holding: Holding
  bytes: number
  isPaused: boolean
}

/** The memory of all unpacked replies of this process. Their packed bytes have all arrived, so none of them stalls. */
let unpackedReplies: ReplyMemory | undefined

/** Unpacked replies up to this size are not counted. Packed ones can arrive by the thousand. */
const PLAIN_BYTES = 64 * 1024

export interface UnpackOptions {
  readonly maxBytes: number
  /** The context of the operation, or the `Askers` of several. */
  readonly asker: unknown
  /** Ends the work when the caller left, or its time is up. */
  readonly ending: Abortable | undefined
  readonly tooLarge: () => Error
  readonly refused: () => Error
}

/** Bytes of an unpacked reply, and its memory if it is long. */
export interface Unpacked {
  readonly bytes: Buffer
  readonly held: HeldReply | undefined
}

/** Unpacks a reply with a stream of zlib. Long results are paced and counted while they grow. */
export function unpack(packed: Uint8Array, decoder: Transform, options: UnpackOptions): Promise<Unpacked> {
  const { maxBytes, asker, ending, tooLarge, refused } = options
  let held: HeldReply | undefined
  const flow: ReplyFlow = {
    pause: () => decoder.pause(),
    resume: () => decoder.resume(),
    refuse: () => void decoder.destroy(refused()),
  }
  return new Promise((resolve, reject) => {
    const letGo = ending && onAbort(ending, () => void decoder.destroy(refused()))
    const chunks: Buffer[] = []
    let length = 0
    decoder.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > maxBytes) return void decoder.destroy(tooLarge())
      chunks.push(chunk)
      if (length <= PLAIN_BYTES) return
      const isFirst = held === undefined
      unpackedReplies ??= new ReplyMemory(processLedger(), UNPACKED_BYTES)
      held ??= unpackedReplies.enter(ownerOfWork(asker), flow)
      held.add(isFirst ? length : chunk.length)
    })
    decoder.on('error', (error) => {
      letGo?.()
      held?.leave()
      reject(error)
    })
    decoder.on('end', () => {
      letGo?.()
      const [only] = chunks
      resolve({ bytes: chunks.length === 1 && only ? only : Buffer.concat(chunks), held })
    })
    decoder.end(packed)
  })
}
