import { promisify } from 'node:util'
import { createGunzip, createInflate, deflate, gzip } from 'node:zlib'
import { type Abortable, NO_PLACE, type ReplyMemory, unpack, type Unpacked } from '@vinyasa/core'
import { GrpcCallError } from '../status.ts'
import type { TransportCall } from '../transport.ts'

/** One message as it came: `encoding` is set when it is compressed. */
export interface Message {
  readonly bytes: Uint8Array
  readonly isCompressed: boolean
}

const PREFIX_BYTES = 5
const NOTHING = Buffer.alloc(0)

/** A message with gRPC's prefix: a flag byte and the length. */
export function toFrame(message: Uint8Array, isCompressed: boolean): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length)
  frame[0] = isCompressed ? 1 : 0
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, PREFIX_BYTES)
  return frame
}

/** Memory for a message before any of it has come: a prefix alone is not to be worth megabytes. */
const FIRST_BYTES = 256 * 1024

/** Cuts a byte stream into messages. They have memory of their own. */
export class FrameReader {
  readonly #maxBytes: number
  readonly #onMessage: (message: Message) => void
  readonly #spare: Pick<ReplyMemory, 'take' | 'give'>
  readonly #onGrow: ((bytes: number) => void) | undefined
  readonly #prefix = new Uint8Array(PREFIX_BYTES)
  #prefixLength = 0
  /** The message that is not whole yet, as far as it has come; and how long it will be. */
  #message: Buffer = NOTHING
  #length = 0
  #size = 0

  /**
   * `maxBytes` below 0: no limit.
   * @param onGrow Called with the memory of a message above 256 KiB whenever it grows.
   */
  constructor(
    maxBytes: number,
    onMessage: (message: Message) => void,
    spare: Pick<ReplyMemory, 'take' | 'give'>,
    onGrow?: (bytes: number) => void,
  ) {
    this.#maxBytes = maxBytes
    this.#onMessage = onMessage
    this.#spare = spare
    this.#onGrow = onGrow
  }

  get isBetweenMessages(): boolean {
    return this.#prefixLength === 0
  }

  /** @throws GrpcCallError when a message is too large or no gRPC message */
  push(chunk: Buffer): void {
    for (let pos = 0; pos < chunk.length;) {
      if (this.#prefixLength < PREFIX_BYTES) {
        this.#prefix[this.#prefixLength++] = chunk[pos++] as number
        if (this.#prefixLength < PREFIX_BYTES) continue
        this.#begin()
      }
      const end = Math.min(chunk.length, pos + this.#size - this.#length)
      this.#append(chunk, pos, end)
      pos = end
      if (this.#length < this.#size) return
      const bytes = this.#message
      this.#prefixLength = 0
      this.#message = NOTHING
      this.#onMessage({ bytes, isCompressed: this.#prefix[0] === 1 })
    }
  }

  #begin(): void {
    const [flag, a = 0, b = 0, c = 0, d = 0] = this.#prefix
    if (flag !== 0 && flag !== 1) {
      throw new GrpcCallError(
        'INTERNAL',
        `the reply is not a gRPC message: its first byte is ${flag}, not 0 or 1`,
      )
    }
    const size = a * 2 ** 24 + ((b << 16) | (c << 8) | d)
    if (this.#maxBytes >= 0 && size > this.#maxBytes) throw tooLarge(size, this.#maxBytes)
    this.#size = size
    this.#length = 0
    this.#message = size > FIRST_BYTES ? this.#spare.take(FIRST_BYTES) : Buffer.allocUnsafe(size)
  }

  #append(chunk: Buffer, from: number, to: number): void {
    const length = this.#length + to - from
    const isWhole = length === this.#size && this.#message.length > length
    if (length > this.#message.length || isWhole) {
      const enough = Math.max(length, this.#message.length * 2)
      // Only the whole message gets around.
      const larger = enough < this.#size ? this.#spare.take(enough) : Buffer.allocUnsafeSlow(this.#size)
      this.#message.copy(larger, 0, 0, this.#length)
      this.#spare.give(this.#message)
      this.#message = larger
      this.#onGrow?.(larger.length)
    }
    chunk.copy(this.#message, this.#length, from, to)
    this.#length = length
  }
}

export type Encoding = 'gzip' | 'deflate'

const compressors = { gzip: promisify(gzip), deflate: promisify(deflate) }
const decompressors = { gzip: createGunzip, deflate: createInflate }
const SETTINGS = { chunkSize: 64 * 1024 }

export function compress(message: Uint8Array, encoding: Encoding): Promise<Buffer> {
  return compressors[encoding](message)
}

/** `encoding` is the reply's `grpc-encoding`. */
export async function decompress(
  message: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
  { caller, signal }: Pick<TransportCall<Abortable>, 'caller' | 'signal'>,
): Promise<Unpacked> {
  if (encoding === undefined || encoding === 'identity') {
    throw new GrpcCallError(
      'INTERNAL',
      'the reply is compressed, but its header grpc-encoding is missing or "identity"',
    )
  }
  if (encoding !== 'gzip' && encoding !== 'deflate') {
    throw new GrpcCallError(
      'UNIMPLEMENTED',
      `the reply is compressed with "${encoding}"; only gzip and deflate are supported`,
    )
  }
  try {
    return await unpack(message, decompressors[encoding](SETTINGS), {
      maxBytes: maxBytes >= 0 ? maxBytes : Number.POSITIVE_INFINITY,
      caller,
      ending: signal,
      tooLarge: () => tooLarge(`more than ${maxBytes}`, maxBytes),
      refused,
    })
  } catch (cause) {
    if (signal?.aborted) throw new GrpcCallError('CANCELLED', 'the call was cancelled')
    if (cause instanceof GrpcCallError) throw cause
    throw new GrpcCallError('INTERNAL', `the reply is not valid ${encoding} data`, { cause })
  }
}

/** The ledger of the process is full. */
export const refused = (): GrpcCallError =>
  new GrpcCallError('RESOURCE_EXHAUSTED', NO_PLACE.message, { ownLimit: { of: 'waiting' } })

function tooLarge(size: number | string, maxBytes: number): GrpcCallError {
  return new GrpcCallError(
    'RESOURCE_EXHAUSTED',
    `the reply has ${size} bytes, but channel.maxReceiveBytes allows only ${maxBytes}`,
    { ownLimit: { of: 'reply', maxBytes } },
  )
}
