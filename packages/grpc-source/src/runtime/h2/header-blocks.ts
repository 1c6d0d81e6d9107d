import { ErrorCode, Http2ProtocolError } from './codes.ts'
import { Flag, unpadded } from './frame-parser.ts'
import type { HeaderList } from './header-list.ts'
import { HpackDecoder } from './hpack-decoder.ts'

/** As Node's own client has it. */
const MAX_LIST_BYTES = 65_535
const MAX_BLOCK_BYTES = 2 * MAX_LIST_BYTES

export interface HeaderBlock {
  readonly stream: number
  readonly isEnd: boolean
  /** Undefined where it holds too much. */
  readonly list: HeaderList | undefined
}

/** Puts HEADERS and CONTINUATION together and reads them. */
export class HeaderBlocks {
  readonly #decoder = new HpackDecoder(MAX_LIST_BYTES)
  #stream = 0
  #isEnd = false
  /** Copies: what a frame came in is used again. */
  #parts: Buffer[] = []
  #bytes = 0

  /** The stream whose block is not whole yet; 0: none. */
  get open(): number {
    return this.#stream
  }

  /** The block, if it is whole. @throws Http2ProtocolError */
  begin(flags: number, stream: number, payload: Buffer): HeaderBlock | undefined {
    const isEnd = (flags & Flag.END_STREAM) !== 0
    let part = unpadded(flags, payload)
    if ((flags & Flag.PRIORITY) !== 0) part = part.subarray(5)
    if ((flags & Flag.END_HEADERS) !== 0) return { stream, isEnd, list: this.#decoder.decode(part) }
    this.#stream = stream
    this.#isEnd = isEnd
    this.#parts = [Buffer.from(part)]
    this.#bytes = part.length
    return undefined
  }

  continue(flags: number, payload: Buffer): HeaderBlock | undefined {
    this.#parts.push(Buffer.from(payload))
    this.#bytes += payload.length
    if (this.#bytes > MAX_BLOCK_BYTES || this.#parts.length > MAX_PARTS)
      throw new Http2ProtocolError(ErrorCode.ENHANCE_YOUR_CALM, 'a header block has no end')
    if ((flags & Flag.END_HEADERS) === 0) return undefined
    const block = Buffer.concat(this.#parts)
    const stream = this.#stream
    this.#stream = 0
    this.#parts = []
    return { stream, isEnd: this.#isEnd, list: this.#decoder.decode(block) }
  }
}

const MAX_PARTS = 128
