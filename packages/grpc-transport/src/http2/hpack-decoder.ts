import { HuffmanReader } from './huffman.ts'
import { wrongCode } from './codes.ts'

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

/** Bytes that a peer may keep here unless it is told otherwise. */
const TABLE_BYTES = 4_096
/** Bytes that an entry counts beyond its text. */
const ENTRY_BYTES = 32
/** A longer text fills the table even if each of its characters has the longest code, of 30 bits. */
const MAX_KEPT_TEXT = (TABLE_BYTES * 30) / 8
const NOTHING = Buffer.alloc(0)

/**
 * Reads header blocks (RFC 7541), which build on each other: all of a connection's go through one decoder, in order. A
 * block may come in pieces; what is kept of it is bounded, whatever its length.
 */
export class HpackDecoder {
  readonly #maxBytes: number
  readonly #huffman = new HuffmanReader()
  /** The dynamic table, oldest first: names and values by turns. */
  readonly #table: string[] = []
  #tableBytes = 0
  #tableLimit = TABLE_BYTES
  /** The block so far, and what it counts; it is left out once that is too much. */
  #list = new HeaderList()
  #bytes = 0
  #resizes = 0
  /** The bytes that are being read, the place in them, and the beginning of a field that is not whole yet. */
  #block: Buffer = NOTHING
  #pos = 0
  #rest: Buffer = NOTHING
  /** Bytes of a text that is too long to be read, and whether the value of its field is yet to come. */
  #skipped = 0
  #dropsValue = false

  /** `maxBytes`: what one block may hold, as `SETTINGS_MAX_HEADER_LIST_SIZE` counts. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The size of the block so far as `SETTINGS_MAX_HEADER_LIST_SIZE` counts, of undecoded fields only the least. */
  get listBytes(): number {
    return this.#bytes
  }

  /** The next piece of a block, to be read now: the memory may be used again. @throws Http2ProtocolError */
  push(piece: Buffer): void {
    const block = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    this.#block = block
    this.#pos = 0
    let start = this.#skip()
    while (start < block.length && this.#field()) start = this.#skip()
    this.#block = NOTHING
    if (start === block.length) this.#rest = NOTHING
    else if (start > 0 || block === piece) this.#rest = Buffer.from(block.subarray(start))
    else this.#rest = block
  }

  /** The block is whole. Undefined where it holds more than is allowed. @throws Http2ProtocolError */
  finish(): HeaderList | undefined {
    if (this.#rest.length > 0 || this.#skipped > 0 || this.#dropsValue)
      throw wrongCode('the block ends in the middle of a field')
    const list = this.#bytes <= this.#maxBytes ? this.#list : undefined
    this.#list = new HeaderList()
    this.#bytes = this.#resizes = 0
    return list
  }

  #skip(): number {
    const count = Math.min(this.#skipped, this.#block.length - this.#pos)
    this.#skipped -= count
    return (this.#pos += count)
  }

  /** Reads what comes next, if all of it is there. */
  #field(): boolean {
    if (this.#dropsValue) return this.#dropText()
    const first = this.#block[this.#pos] as number
    if (first >= 0x80) {
      const index = this.#integer(7)
      if (index === undefined) return false
      this.#add(this.#at(index, 0), this.#at(index, 1))
      return true
    }
    if ((first & 0xe0) === 0x20) {
      // RFC 7541, section 4.2: at most the smallest and the final size, in front of all fields.
      if (this.#bytes > 0 || ++this.#resizes > 2)
        throw wrongCode(
          'a table size update follows a field, or the block has more than two of these updates',
        )
      const limit = this.#integer(5)
      if (limit === undefined) return false
      this.#resize(limit)
      return true
    }
    const isKept = (first & 0x40) !== 0
    const index = this.#integer(isKept ? 6 : 4)
    if (index === undefined) return false
    const name = index === 0 ? this.#text(isKept) : this.#at(index, 0)
    if (name === undefined) return false
    if (name === TOO_LONG) {
      this.#dropsValue = true
      return this.#leaveOut(isKept)
    }
    const value = this.#text(isKept)
    if (value === undefined) return false
    if (value === TOO_LONG) return this.#leaveOut(isKept)
    this.#add(name, value)
    if (isKept) this.#keep(name, value)
    return true
  }

  #add(name: string, value: string): void {
    this.#bytes += name.length + value.length + ENTRY_BYTES
    if (this.#bytes <= this.#maxBytes) this.#list.fields.push(name, value)
    else if (this.#list.fields.length > 0) this.#list = new HeaderList()
  }

  /** A field whose text is not decoded. If it is for the table, it is longer than the table, which is empty afterwards. */
  #leaveOut(isKept: boolean): true {
    this.#bytes = Math.max(this.#bytes, this.#maxBytes) + ENTRY_BYTES
    if (isKept) {
      this.#table.length = 0
      this.#tableBytes = 0
    }
    return true
  }

  #dropText(): boolean {
    const length = this.#integer(7)
    if (length === undefined) return false
    this.#skipped = length
    this.#dropsValue = false
    return true
  }

  #at(index: number, part: 0 | 1): string {
    if (index === 0) throw wrongCode('the table has no entry 0')
    const text =
      index <= STATIC_ENTRIES
        ? STATIC[(index - 1) * 2 + part]
        : this.#table[this.#table.length - (index - STATIC_ENTRIES) * 2 + part]
    if (text === undefined) throw wrongCode(`the table has no entry ${index}`)
    return text
  }

  #keep(name: string, value: string): void {
    this.#tableBytes += name.length + value.length + ENTRY_BYTES
    this.#table.push(name, value)
    this.#evict()
  }

  #resize(limit: number): void {
    if (limit > TABLE_BYTES)
      throw wrongCode(`the table size ${limit} exceeds the limit of ${TABLE_BYTES} bytes`)
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

  /** Undefined where it is not whole yet. Of a block that is too large, only the texts for the table are decoded. */
  #text(isKept: boolean): string | typeof TOO_LONG | undefined {
    const isHuffman = ((this.#block[this.#pos] ?? 0) & 0x80) !== 0
    const length = this.#integer(7)
    if (length === undefined) return undefined
    const isDecoded = isKept || this.#bytes <= this.#maxBytes
    if (!isDecoded || length > Math.max(this.#maxBytes, MAX_KEPT_TEXT)) {
      this.#skipped = length
      return TOO_LONG
    }
    const start = this.#pos
    const end = start + length
    if (end > this.#block.length) return undefined
    this.#pos = end
    return isHuffman
      ? this.#huffman.read(this.#block, start, end)
      : this.#block.toString('latin1', start, end)
  }

  /** A number of which so many bits are in the first byte; undefined where it is not whole yet. */
  #integer(bits: number): number | undefined {
    const mask = (1 << bits) - 1
    const first = this.#block[this.#pos++]
    if (first === undefined) return undefined
    let value = first & mask
    if (value < mask) return value
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = this.#block[this.#pos++]
      if (byte === undefined) return undefined
      value += (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw wrongCode('an index, a length or a table size is too large')
  }
}

const TOO_LONG = Symbol('too long')

/** The fields of a header block in their order, names and values by turns. */
export class HeaderList {
  readonly fields: string[] = []

  /** Several values of one name are joined by commas. */
  get(name: string): string | undefined {
    const { fields } = this
    let value: string | undefined
    for (let index = 0; index < fields.length; index += 2) {
      if (fields[index] !== name) continue
      value = value === undefined ? fields[index + 1] : `${value}, ${fields[index + 1]}`
    }
    return value
  }

  *[Symbol.iterator](): IterableIterator<readonly [name: string, value: string]> {
    const { fields } = this
    for (let index = 0; index < fields.length; index += 2)
      yield [fields[index] as string, fields[index + 1] as string]
  }
}
