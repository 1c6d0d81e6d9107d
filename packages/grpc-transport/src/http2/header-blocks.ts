import { ErrorCode, Http2ProtocolError } from './codes.ts'
import { Flag, unpadded } from './frame-parser.ts'
import type { HeaderList } from './hpack-decoder.ts'
import { HpackDecoder } from './hpack-decoder.ts'

/** Bytes that a block may hold, as with Node's own client. The peer is told, and need not keep to it. */
export const MAX_HEADER_LIST_BYTES = 65_535
/** The fault of a server that did not keep to it. */
export const TOO_MUCH: string = `a header block that exceeds the limit of ${MAX_HEADER_LIST_BYTES} bytes for response headers and trailers`
/** A block that holds more is read to its end, as others build on it, but not for ever: nothing else comes meanwhile. */
const MAX_BLOCK_BYTES = 16 * 1024 * 1024
/** The connection ends if more fields had to be decoded: only a hostile peer ignores the announced limit so far. */
const MAX_DECODED_BYTES = 4 * MAX_HEADER_LIST_BYTES
/** Small frames count as more than they are: they cost as much as whole ones, and nobody has need of many. */
const SMALL_FRAME_BYTES = 1024
const SMALL_FRAME_COST = 128 * 1024

export interface HeaderBlock {
  readonly stream: number
  readonly isEnd: boolean
  /** Undefined where it holds too much. */
  readonly list: HeaderList | undefined
}

/** Puts HEADERS and CONTINUATION together and reads them. */
export class HeaderBlocks {
  readonly #decoder = new HpackDecoder(MAX_HEADER_LIST_BYTES)
  #stream = 0
  #isEnd = false
  #bytes = 0

  /** The stream whose block is not whole yet; 0: none. */
  get open(): number {
    return this.#stream
  }

  /** The block, if it is whole. @throws Http2ProtocolError */
  begin(flags: number, stream: number, payload: Buffer): HeaderBlock | undefined {
    let part = unpadded(flags, payload)
    if ((flags & Flag.PRIORITY) !== 0) part = part.subarray(5)
    this.#stream = stream
    this.#isEnd = (flags & Flag.END_STREAM) !== 0
    this.#bytes = 0
    return this.#read(flags, part)
  }

  continue(flags: number, payload: Buffer): HeaderBlock | undefined {
    this.#bytes += payload.length < SMALL_FRAME_BYTES ? SMALL_FRAME_COST : payload.length
    if (this.#bytes > MAX_BLOCK_BYTES)
      throw new Http2ProtocolError(
        ErrorCode.ENHANCE_YOUR_CALM,
        'the server sent too many HTTP/2 CONTINUATION frames for one header block',
      )
    return this.#read(flags, payload)
  }

  #read(flags: number, part: Buffer): HeaderBlock | undefined {
    this.#decoder.push(part)
    if (this.#decoder.listBytes > MAX_DECODED_BYTES)
      throw new Http2ProtocolError(
        ErrorCode.ENHANCE_YOUR_CALM,
        `the server sent a header block of more than ${MAX_DECODED_BYTES} bytes, so the connection was closed; the limit for response headers and trailers is ${MAX_HEADER_LIST_BYTES} bytes`,
      )
    if ((flags & Flag.END_HEADERS) === 0) return undefined
    const stream = this.#stream
    this.#stream = 0
    return { stream, isEnd: this.#isEnd, list: this.#decoder.finish() }
  }
}
