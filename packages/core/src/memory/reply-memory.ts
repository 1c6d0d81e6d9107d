import type { Transform } from 'node:stream'
import { ownerOfWork } from '../fair-queue.ts'
import { type Abortable, onAbort } from '../ending.ts'
import { type Ledger, processLedger } from './ledger.ts'

/** Minimum bytes of a reply that is counted. */
export const LONG_REPLY_BYTES: number = 256 * 1024
/** Limit in bytes for decompressed replies. Most replies pause above it. */
const UNPACKED_BYTES = 8 * 1024 * 1024
/** Minimum bytes that are assumed for an active reply. */
const EXPECTED_BYTES = 4 * 1024 * 1024
/** Part of `pacedBytes` that free buffers for later replies can use. */
const KEPT_SHARE = 1 / 4
/** Maximum ratio between the sizes of a reused buffer and the reply. */
const LARGEST_WASTE = 4

/** Source of a reply's bytes: a connection or a decompressor. A few more chunks can arrive after `pause`. */
export interface ReplyFlow {
  pause(): void
  resume(): void
  /** Cancels the reply, because the ledger of the process is full and the owner holds the most memory. */
  refuse(): void
}

/** Memory of one long reply, from its first bytes until it has been parsed. */
export interface HeldReply {
  add(bytes: number): void
  /** Frees the memory. Later calls do nothing. */
  leave(): void
}

/**
 * Counts long backend replies in a ledger and paces them. Most replies pause while more than `pacedBytes` are held,
 * so that many concurrent replies need no more memory than a few. A resumed reply runs to its end. The reply of the
 * owner with the least memory resumes first. Buffers are reused, because V8 frees large buffers late. Use one object
 * per backend; otherwise replies wait for a backend that stalls.
 */
export class ReplyMemory {
  readonly #ledger: Ledger
  readonly #pacedBytes: number
  /** Paused replies by owner, in the order in which they were paused. */
  readonly #waiting = new Map<unknown, Set<Held>>()
  /** Replies that continue to their end, even if more than `pacedBytes` are held. */
  readonly #letOn = new Set<Held>()
  readonly #bytesOf = new Map<unknown, number>()
  readonly #free: Buffer[] = []
  #freeBytes = 0
  #bytes = 0

  constructor(ledger: Ledger, pacedBytes: number) {
    this.#ledger = ledger
    this.#pacedBytes = Math.min(pacedBytes, ledger.maxBytes / 2)
  }

  /**
   * Adds a reply.
   * @param owner See `Ledger.hold`.
   */
  enter(owner: unknown, flow: ReplyFlow): HeldReply {
    const holding = this.#ledger.hold(owner, 0, () => {
      reply.leave()
      flow.refuse()
    })
    let hasLeft = false
    const reply: Held = {
      owner: owner ?? flow,
      flow,
      bytes: 0,
      add: (bytes) => {
        if (hasLeft) return
        reply.bytes += bytes
        this.#count(reply, bytes)
        holding.resize(reply.bytes)
        // `resize` can drop this reply.
        if (!hasLeft) this.#pace(reply)
      },
      leave: () => {
        if (hasLeft) return
        hasLeft = true
        this.#stopWaiting(reply)
        this.#letOn.delete(reply)
        this.#count(reply, -reply.bytes)
        holding.release()
        this.#resume()
      },
    }
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

  /** Accepts a buffer for reuse. The caller must no longer use the buffer. */
  give(buffer: Buffer): void {
    if (this.#freeBytes + buffer.length > this.#pacedBytes * KEPT_SHARE) return
    this.#free.push(buffer)
    this.#freeBytes += buffer.length
  }

  #count(reply: Held, bytes: number): void {
    this.#bytes += bytes
    const all = (this.#bytesOf.get(reply.owner) ?? 0) + bytes
    if (all === 0) this.#bytesOf.delete(reply.owner)
    else this.#bytesOf.set(reply.owner, all)
  }

  #pace(reply: Held): void {
    const line = this.#waiting.get(reply.owner)
    if (this.#bytes <= this.#pacedBytes || line?.has(reply) || this.#letOn.has(reply)) return
    if (this.#hasRoomFor(reply)) return void this.#letOn.add(reply)
    if (line) line.add(reply)
    else this.#waiting.set(reply.owner, new Set([reply]))
    reply.flow.pause()
  }

  #resume(): void {
    while (this.#waiting.size > 0) {
      const next = this.#ofLeastOwner()
      if (!this.#hasRoomFor(next)) return
      this.#stopWaiting(next)
      this.#letOn.add(next)
      next.flow.resume()
    }
  }

  /**
   * Returns whether a reply of this owner can continue. One owner can use half of the bytes, so that a reply
   * of another owner can continue immediately. Paused replies hold little memory and are not counted.
   */
  #hasRoomFor({ owner }: Held): boolean {
    let [all, own] = [0, 0]
    for (const reply of this.#letOn) {
      const bytes = Math.max(EXPECTED_BYTES, reply.bytes)
      all += bytes
      if (reply.owner === owner) own += bytes
    }
    return all < this.#pacedBytes && own < this.#pacedBytes / 2
  }

  #stopWaiting(reply: Held): void {
    const line = this.#waiting.get(reply.owner)
    if (line?.delete(reply) && line.size === 0) this.#waiting.delete(reply.owner)
  }

  /**
   * Returns the first paused reply of the owner with the least memory. It compares owners instead of replies,
   * because thousands of replies can wait.
   */
  #ofLeastOwner(): Held {
    let [least, leastBytes] = [undefined as unknown, Infinity]
    for (const owner of this.#waiting.keys()) {
      const bytes = this.#bytesOf.get(owner) ?? 0
      if (bytes < leastBytes) [least, leastBytes] = [owner, bytes]
    }
    return this.#waiting.get(least)?.values().next().value as Held
  }
}

interface Held extends HeldReply {
  readonly owner: unknown
  readonly flow: ReplyFlow
  bytes: number
}

/**
 * Memory of all decompressed replies of this process. These replies cannot stall, because their compressed
 * bytes have already arrived.
 */
let unpackedReplies: ReplyMemory | undefined

/** Decompressed replies up to this size are not counted. Thousands of compressed replies can arrive. */
const PLAIN_BYTES = 64 * 1024

export interface UnpackOptions {
  readonly maxBytes: number
  /** Context of the operation, or `Callers` if several operations share the reply. */
  readonly caller: unknown
  /** Signal that cancels the work when the caller disconnects or the deadline passes. */
  readonly ending: Abortable | undefined
  readonly tooLarge: () => Error
  readonly refused: () => Error
}

/** Bytes of a decompressed reply. `held` is its memory if it is long. */
export interface Unpacked {
  readonly bytes: Buffer
  readonly held: HeldReply | undefined
}

/** Decompresses a reply with a zlib stream. Long results are counted and paced while they grow. */
export function unpack(packed: Uint8Array, decoder: Transform, options: UnpackOptions): Promise<Unpacked> {
  const { maxBytes, caller, ending, tooLarge, refused } = options
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
      held ??= unpackedReplies.enter(ownerOfWork(caller), flow)
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
