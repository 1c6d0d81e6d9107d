import { promisify } from 'node:util'
import { deflate, gunzip, gzip, inflate } from 'node:zlib'
import { GrpcCallError } from '../status.ts'

/** One message as it came: `encoding` is set when it is compressed. */
export interface Message {
  readonly bytes: Uint8Array
  readonly isCompressed: boolean
}

const HEADER_BYTES = 5

/** A message with gRPC's prefix: a flag byte and the length. */
export function toFrame(message: Uint8Array, isCompressed: boolean): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + message.length)
  frame[0] = isCompressed ? 1 : 0
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, HEADER_BYTES)
  return frame
}

/** Cuts a byte stream into messages. A message that lies in one chunk is handed on without a copy. */
export class FrameReader {
  readonly #maxBytes: number
  readonly #onMessage: (message: Message) => void
  /** Bytes of the frame that is not whole yet. */
  #chunks: Buffer[] = []
  #length = 0
  /** Of the frame that is not whole yet, prefix included; the prefix alone until it is known. */
  #wanted: number = HEADER_BYTES

  /** `maxBytes` below 0: no limit. */
  constructor(maxBytes: number, onMessage: (message: Message) => void) {
    this.#maxBytes = maxBytes
    this.#onMessage = onMessage
  }

  get isBetweenMessages(): boolean {
    return this.#length === 0
  }

  /** @throws GrpcCallError when a message is too large or no gRPC message */
  push(chunk: Buffer): void {
    let rest = chunk
    if (this.#length > 0) {
      this.#chunks.push(chunk)
      this.#length += chunk.length
      if (this.#length < this.#wanted) return
      rest = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#length)
      this.#chunks = []
      this.#length = 0
      this.#wanted = HEADER_BYTES
    }
    while (rest.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + this.#sizeOf(rest)
      if (rest.length < end) {
        this.#wanted = end
        break
      }
      this.#onMessage({ bytes: rest.subarray(HEADER_BYTES, end), isCompressed: rest[0] === 1 })
      rest = rest.subarray(end)
    }
    if (rest.length === 0) return
    this.#chunks.push(rest)
    this.#length = rest.length
  }

  #sizeOf(frame: Buffer): number {
    const flag = frame[0]
    if (flag !== 0 && flag !== 1) {
      throw new GrpcCallError('INTERNAL', `the reply is no gRPC message: its first byte is ${flag}`)
    }
    const size = frame.readUInt32BE(1)
    if (this.#maxBytes >= 0 && size > this.#maxBytes) throw tooLarge(size, this.#maxBytes)
    return size
  }
}

export type Encoding = 'gzip' | 'deflate'

const compressors = { gzip: promisify(gzip), deflate: promisify(deflate) }
const decompressors = { gzip: promisify(gunzip), deflate: promisify(inflate) }

export function compress(message: Uint8Array, encoding: Encoding): Promise<Buffer> {
  return compressors[encoding](message)
}

/** `encoding` is the reply's `grpc-encoding`. */
export async function decompress(
  message: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Uint8Array> {
  if (encoding === undefined || encoding === 'identity') {
    throw new GrpcCallError('INTERNAL', 'the reply is compressed, but its headers do not say how')
  }
  if (encoding !== 'gzip' && encoding !== 'deflate') {
    throw new GrpcCallError(
      'UNIMPLEMENTED',
      `the reply is compressed with "${encoding}"; known are gzip and deflate`,
    )
  }
  try {
    return await decompressors[encoding](
      message,
      maxBytes >= 0 ? { maxOutputLength: Math.max(1, maxBytes) } : {},
    )
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLarge(`more than ${maxBytes}`, maxBytes)
    }
    throw new GrpcCallError('INTERNAL', `the reply is no valid ${encoding} data`, { cause })
  }
}

function tooLarge(size: number | string, maxBytes: number): GrpcCallError {
  return new GrpcCallError(
    'RESOURCE_EXHAUSTED',
    `the reply has ${size} bytes; channel.maxReceiveBytes allows ${maxBytes}`,
  )
}
