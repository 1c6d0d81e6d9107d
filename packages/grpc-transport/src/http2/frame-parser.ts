import { ErrorCode, Http2ProtocolError } from './codes.ts'

export const Type = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const

export const Flag = { ACK: 1, END_STREAM: 1, END_HEADERS: 4, PADDED: 8, PRIORITY: 32 } as const

const HEADER_BYTES = 9
/** Bytes of payload that a peer may send in one frame unless it is told otherwise. */
export const MAX_FRAME_BYTES = 16_384

/** Takes the frames that were read. It has to read them at once: the memory is used again. */
export interface FrameHandler {
  frame(type: number, flags: number, stream: number, payload: Buffer): void
  /** A piece of a DATA frame without padding; `isLast`: its last. */
  data(flags: number, stream: number, piece: Buffer, isLast: boolean): void
}

/** Cuts what comes from a socket into frames. Data is handed on as it comes, other frames when they are whole. */
export class FrameParser {
  readonly #handler: FrameHandler
  readonly #header = Buffer.allocUnsafeSlow(HEADER_BYTES)
  #headerLength = 0
  /** The frame whose payload is being read. */
  #type = 0
  #flags = 0
  #stream = 0
  /** Bytes of its payload that are yet to come. */
  #rest = 0
  #isInPayload = false
  #payload: Buffer | undefined
  #payloadLength = 0

  constructor(handler: FrameHandler) {
    this.#handler = handler
  }

  /** @throws Http2ProtocolError */
  push(chunk: Buffer): void {
    let pos = 0
    for (;;) {
      if (!this.#isInPayload) {
        pos = this.#readHeader(chunk, pos)
        if (!this.#isInPayload) return
      }
      const end = Math.min(chunk.length, pos + this.#rest)
      const isLast = end - pos === this.#rest
      if (this.#type === Type.DATA && (this.#flags & Flag.PADDED) === 0) {
        this.#rest -= end - pos
        this.#isInPayload = !isLast
        if (isLast || end > pos)
          this.#handler.data(this.#flags, this.#stream, chunk.subarray(pos, end), isLast)
      } else if (isLast && this.#payload === undefined) {
        this.#isInPayload = false
        this.#handler.frame(this.#type, this.#flags, this.#stream, chunk.subarray(pos, end))
      } else this.#collect(chunk, pos, end, isLast)
      pos = end
      if (!isLast) return
    }
  }

  #readHeader(chunk: Buffer, from: number): number {
    let pos = from
    let header = chunk
    let at = pos
    if (this.#headerLength > 0 || chunk.length - pos < HEADER_BYTES) {
      const count = Math.min(chunk.length - pos, HEADER_BYTES - this.#headerLength)
      this.#header.set(chunk.subarray(pos, pos + count), this.#headerLength)
      this.#headerLength += count
      pos += count
      if (this.#headerLength < HEADER_BYTES) return pos
      this.#headerLength = 0
      header = this.#header
      at = 0
    } else pos += HEADER_BYTES
    this.#rest = header.readUIntBE(at, 3)
    this.#type = header[at + 3] as number
    this.#flags = header[at + 4] as number
    this.#stream = header.readUInt32BE(at + 5) & 0x7fff_ffff
    if (this.#rest > MAX_FRAME_BYTES) {
      throw new Http2ProtocolError(
        ErrorCode.FRAME_SIZE_ERROR,
        `the server sent an HTTP/2 frame of ${this.#rest} bytes; the maximum is ${MAX_FRAME_BYTES} bytes`,
      )
    }
    this.#isInPayload = true
    return pos
  }

  #collect(chunk: Buffer, pos: number, end: number, isLast: boolean): void {
    this.#payload ??= Buffer.allocUnsafe(this.#rest)
    this.#payload.set(chunk.subarray(pos, end), this.#payloadLength)
    this.#payloadLength += end - pos
    this.#rest -= end - pos
    if (!isLast) return
    const payload = this.#payload
    this.#payload = undefined
    this.#payloadLength = 0
    this.#isInPayload = false
    this.#handler.frame(this.#type, this.#flags, this.#stream, payload)
  }
}

/** The payload of a frame that may have padding. @throws Http2ProtocolError */
export function unpadded(flags: number, payload: Buffer): Buffer {
  if ((flags & Flag.PADDED) === 0) return payload
  const padding = payload[0] ?? payload.length
  if (padding >= payload.length) {
    throw new Http2ProtocolError(
      ErrorCode.PROTOCOL_ERROR,
      'the server sent an HTTP/2 frame whose padding does not fit into its payload',
    )
  }
  return payload.subarray(1, payload.length - padding)
}
