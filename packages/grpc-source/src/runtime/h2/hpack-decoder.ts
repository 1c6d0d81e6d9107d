import { ErrorCode, Http2ProtocolError } from './codes.ts'
import { HeaderList } from './header-list.ts'
import { HuffmanReader } from './huffman.ts'

/** Names and values by turns. Source: RFC 7541, appendix A. */
const STATIC: readonly string[] =
  `:authority||:method|GET|:method|POST|:path|/|:path|/index.html|:scheme|http|:scheme|https|:status|200|:status|204|
:status|206|:status|304|:status|400|:status|404|:status|500|accept-charset||accept-encoding|gzip, deflate|
accept-language||accept-ranges||accept||access-control-allow-origin||age||allow||authorization||cache-control||
content-disposition||content-encoding||content-language||content-length||content-location||content-range||
content-type||cookie||date||etag||expect||expires||from||host||if-match||if-modified-since||if-none-match||if-range||
if-unmodified-since||last-modified||link||location||max-forwards||proxy-authenticate||proxy-authorization||range||
referer||refresh||retry-after||server||set-cookie||strict-transport-security||transfer-encoding||user-agent||vary||
via||www-authenticate|`
    .replaceAll('\n', '')
    .split('|')
const STATIC_ENTRIES = STATIC.length / 2

/** What a peer may keep here unless it is told otherwise. */
const TABLE_BYTES = 4_096
/** What an entry counts beyond its text. */
const ENTRY_BYTES = 32
const NOTHING = Buffer.alloc(0)

/** Reads header blocks (RFC 7541), which build on each other: all of a connection's go through one decoder, in order. */
export class HpackDecoder {
  readonly #maxBytes: number
  readonly #huffman = new HuffmanReader()
  /** The dynamic table, oldest first: names and values by turns. */
  readonly #table: string[] = []
  #tableBytes = 0
  #tableLimit = TABLE_BYTES
  #block: Buffer = NOTHING
  #pos = 0

  /** `maxBytes`: what one block may hold, as `SETTINGS_MAX_HEADER_LIST_SIZE` counts. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Undefined where the block holds more than is allowed. @throws Http2ProtocolError */
  decode(block: Buffer): HeaderList | undefined {
    const list = new HeaderList()
    const { fields } = list
    let bytes = 0
    this.#block = block
    this.#pos = 0
    while (this.#pos < block.length) {
      const first = block[this.#pos] as number
      if ((first & 0xe0) === 0x20) {
        if (fields.length > 0) throw wrong('the table changes its size within a block')
        this.#resize(this.#integer(5))
        continue
      }
      let name: string
      let value: string
      if (first >= 0x80) {
        const index = this.#integer(7)
        name = this.#at(index, 0)
        value = this.#at(index, 1)
      } else {
        const isKept = (first & 0x40) !== 0
        const index = this.#integer(isKept ? 6 : 4)
        name = index === 0 ? this.#text() : this.#at(index, 0)
        value = this.#text()
        if (isKept) this.#keep(name, value)
      }
      bytes += name.length + value.length + ENTRY_BYTES
      if (bytes <= this.#maxBytes) fields.push(name, value)
    }
    this.#block = NOTHING
    return bytes <= this.#maxBytes ? list : undefined
  }

  #at(index: number, part: 0 | 1): string {
    if (index === 0) throw wrong('an entry of the table has the number 0')
    const text =
      index <= STATIC_ENTRIES
        ? STATIC[(index - 1) * 2 + part]
        : this.#table[this.#table.length - (index - STATIC_ENTRIES) * 2 + part]
    if (text === undefined) throw wrong('an entry of the table does not exist')
    return text
  }

  #keep(name: string, value: string): void {
    this.#tableBytes += name.length + value.length + ENTRY_BYTES
    this.#table.push(name, value)
    this.#evict()
  }

  #resize(limit: number): void {
    if (limit > TABLE_BYTES) throw wrong('the table is larger than it may be')
    this.#tableLimit = limit
    this.#evict()
  }

  #evict(): void {
    while (this.#tableBytes > this.#tableLimit) {
      const name = this.#table.shift() as string
      const value = this.#table.shift() as string
      this.#tableBytes -= name.length + value.length + ENTRY_BYTES
    }
  }

  #text(): string {
    const isHuffman = (this.#byte() & 0x80) !== 0
    this.#pos--
    const length = this.#integer(7)
    const start = this.#pos
    const end = start + length
    if (end > this.#block.length) throw wrong('a text is longer than its block')
    this.#pos = end
    return isHuffman
      ? this.#huffman.read(this.#block, start, end)
      : this.#block.toString('latin1', start, end)
  }

  /** A number of which so many bits are in the first byte. */
  #integer(bits: number): number {
    const mask = (1 << bits) - 1
    let value = this.#byte() & mask
    if (value < mask) return value
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = this.#byte()
      value += (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw wrong('a number is too large')
  }

  #byte(): number {
    const byte = this.#block[this.#pos++]
    if (byte === undefined) throw wrong('a header block ends in the middle of a field')
    return byte
  }
}

function wrong(what: string): Http2ProtocolError {
  return new Http2ProtocolError(ErrorCode.COMPRESSION_ERROR, what)
}
