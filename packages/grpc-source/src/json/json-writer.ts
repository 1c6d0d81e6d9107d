import { isAscii } from 'node:buffer'
import { type JsonText } from '@vinyasa/core'
import { FallBack } from '@vinyasa/source-kit'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const QUOTES = 0x2222_2222
const BACKSLASHES = 0x5c5c_5c5c
const NOTHING = Buffer.alloc(0)
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const HEX = Buffer.from('0123456789abcdef')
/** The letter after the backslash, for the characters that have a short escape. */
const SHORT_ESCAPES = new Uint8Array(128)
for (const [code, letter] of Object.entries({
  8: 'b',
  9: 't',
  10: 'n',
  12: 'f',
  13: 'r',
  34: '"',
  92: '\\',
})) {
  SHORT_ESCAPES[Number(code)] = letter.charCodeAt(0)
}
const FIRST_BYTES = 1 << 14
/** Bytes that a writer keeps between uses; memory of a larger answer goes out with it. */
const KEPT_BYTES = 1 << 20
/** Beyond it V8 would give a string a place of its own. */
const TEXT_BYTES = 1 << 16

/**
 * JSON that is always the same, four bytes a number, since so it is copied quickest. A plain list takes a third of what a typed
 * one does, and plans hold many.
 */
export interface Literal {
  readonly words: readonly number[]
  /** In bytes. */
  readonly length: number
}

export function toLiteral(json: string): Literal {
  const length = Buffer.byteLength(json)
  const bytes = Buffer.alloc(Math.ceil(length / 4) * 4)
  bytes.write(json)
  const words = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readInt32LE(index * 4))
  return { words, length }
}

/** Writes JSON as `JSON.stringify` would, into memory that it uses again and again. */
export class JsonWriter {
  private bytes: Buffer = NOTHING
  private view: DataView = viewOf(NOTHING)
  private pos = 0
  /** The bytes that strings were last copied from. */
  private source: Uint8Array = NOTHING
  private sourceView: DataView = viewOf(NOTHING)

  constructor() {
    this.use(Buffer.allocUnsafeSlow(FIRST_BYTES))
  }

  /** Begins anew; `expected` spares growing. */
  begin(expected: number): void {
    this.pos = 0
    if (expected > this.bytes.length) this.use(Buffer.allocUnsafeSlow(expected))
    else if (this.bytes.length > KEPT_BYTES) this.use(Buffer.allocUnsafeSlow(FIRST_BYTES))
  }

  /** Returns what was written since `begin`, as bytes that nobody writes to any more. */
  take(): Buffer {
    const written = this.bytes.subarray(0, this.pos)
    this.pos = 0
    this.source = NOTHING
    if (this.bytes.length <= KEPT_BYTES) return Buffer.from(written)
    this.use(Buffer.allocUnsafeSlow(FIRST_BYTES))
    return written
  }

  /**
   * The same, as a string where it is ASCII and not long: V8 frees a string in a small collection, while the memory of
   * Buffers counts towards the limit at which it goes through the whole heap.
   */
  takeText(): JsonText {
    if (this.pos > TEXT_BYTES || !isAscii(this.bytes.subarray(0, this.pos))) return this.take()
    const text = this.bytes.toString('latin1', 0, this.pos)
    this.pos = 0
    this.source = NOTHING
    return text
  }

  /** Bytes written since `begin`. */
  get length(): number {
    return this.pos
  }

  /** Forgets what was written beyond a former `length`. */
  rewind(length: number): void {
    this.pos = length
  }

  byte(value: number): void {
    if (this.pos === this.bytes.length) this.grow(1)
    this.bytes[this.pos++] = value
  }

  /** Bytes that are JSON already. */
  raw(json: Uint8Array): void {
    const { length } = json
    if (this.pos + length > this.bytes.length) this.grow(length)
    const { bytes } = this
    if (length > 64) {
      bytes.set(json, this.pos)
      this.pos += length
      return
    }
    let { pos } = this
    for (let index = 0; index < length; index++) bytes[pos++] = json[index] as number
    this.pos = pos
  }

  /** The same, prepared. */
  literal({ words, length }: Literal): void {
    // The last word may reach beyond the last byte.
    if (this.pos + length + 3 > this.bytes.length) this.grow(length + 3)
    const { view, pos } = this
    for (let index = 0; index < words.length; index++) {
      view.setInt32(pos + index * 4, words[index] as number, true)
    }
    this.pos = pos + length
  }

  /** JSON without characters outside ASCII: numbers, times, base64. */
  ascii(json: string): void {
    const { length } = json
    if (this.pos + length > this.bytes.length) this.grow(length)
    const { bytes } = this
    let { pos } = this
    for (let index = 0; index < length; index++) bytes[pos++] = json.charCodeAt(index)
    this.pos = pos
  }

  /** The same as a string, where none of it needs an escape. */
  quoted(ascii: string): void {
    this.byte(QUOTE)
    this.ascii(ascii)
    this.byte(QUOTE)
  }

  text(json: string): void {
    this.raw(Buffer.from(json))
  }

  /** A whole number of at most 53 bits. */
  integer(value: number): void {
    if (this.pos + 20 > this.bytes.length) this.grow(20)
    const { bytes } = this
    let rest = value
    if (rest < 0) {
      bytes[this.pos++] = MINUS
      rest = -rest
    }
    let length = 1
    for (let limit = 10; limit <= rest; limit *= 10) length++
    let pos = this.pos + length
    this.pos = pos
    while (rest > 0xffff_ffff) {
      const next = Math.floor(rest / 10)
      bytes[--pos] = ZERO + (rest - next * 10)
      rest = next
    }
    let small = rest >>> 0
    do {
      const next = (small / 10) >>> 0
      bytes[--pos] = ZERO + (small - next * 10)
      small = next
    } while (small !== 0)
  }

  /** A finite number. */
  number(value: number): void {
    if (Number.isInteger(value) && value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER) {
      this.integer(value)
      return
    }
    // A decimal of up to 15 digits that rounds to a number is the shortest that does: it is what String would write.
    if (value < 1e9 && value > -1e9) {
      for (let scale = 10, digits = 1; digits <= 3; scale *= 10, digits++) {
        const scaled = Math.round(value * scale)
        if (scaled / scale !== value) continue
        this.decimal(scaled, scale, digits)
        return
      }
    }
    this.ascii(String(value))
  }

  private decimal(scaled: number, scale: number, digits: number): void {
    const size = Math.abs(scaled)
    const whole = Math.floor(size / scale)
    if (scaled < 0) this.byte(MINUS)
    this.integer(whole)
    this.byte(POINT)
    for (let rest = size - whole * scale, left = digits, unit = scale / 10; left > 0; left--, unit /= 10) {
      const digit = Math.floor(rest / unit)
      this.byte(ZERO + digit)
      rest -= digit * unit
    }
  }

  /** The string in `source[start, end)`, which is UTF-8. @throws FallBack where it is not */
  string(source: Uint8Array, start: number, end: number): void {
    if (this.pos + (end - start) + 2 > this.bytes.length) this.grow(end - start + 2)
    if (source !== this.source) {
      this.source = source
      this.sourceView = viewOf(source)
    }
    const { bytes, view, sourceView } = this
    let { pos } = this
    let index = start
    bytes[pos++] = QUOTE
    // Four bytes at a time up to one that is not ASCII, or below 0x20, or a quote, or a backslash.
    for (; index + 4 <= end; index += 4) {
      const word = sourceView.getInt32(index, true)
      const found =
        word | (word - 0x2020_2020) | ((word ^ QUOTES) - 0x0101_0101) | ((word ^ BACKSLASHES) - 0x0101_0101)
      if ((found & 0x8080_8080) !== 0) break
      view.setInt32(pos, word, true)
      pos += 4
    }
    for (; index < end; index++) {
      const byte = source[index] as number
      if (byte < 0x20 || byte > 0x7e || byte === QUOTE || byte === BACKSLASH) {
        this.pos = pos
        this.restOfString(source, index, end)
        return
      }
      bytes[pos++] = byte
    }
    bytes[pos] = QUOTE
    this.pos = pos + 1
  }

  /** From the first character on that is escaped or not ASCII. */
  private restOfString(source: Uint8Array, start: number, end: number): void {
    for (let index = start; index < end;) {
      // The longest escape is six bytes.
      if (this.pos + 7 > this.bytes.length) this.grow(end - index + 7)
      const byte = source[index] as number
      if (byte >= 0x80) {
        const length = utf8Length(source, index, end)
        for (let copied = 0; copied < length; copied++)
          this.bytes[this.pos++] = source[index + copied] as number
        index += length
        continue
      }
      index++
      if (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) this.bytes[this.pos++] = byte
      else this.escape(byte)
    }
    this.byte(QUOTE)
  }

  private escape(byte: number): void {
    const { bytes } = this
    bytes[this.pos++] = BACKSLASH
    const short = SHORT_ESCAPES[byte] as number
    if (short !== 0) {
      bytes[this.pos++] = short
      return
    }
    for (const digit of [0x75, 0x30, 0x30, HEX[byte >> 4] as number, HEX[byte & 15] as number])
      bytes[this.pos++] = digit
  }

  private use(bytes: Buffer): void {
    this.bytes = bytes
    this.view = viewOf(bytes)
  }

  private grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.pos + needed))
    larger.set(this.bytes.subarray(0, this.pos))
    this.use(larger)
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** The length of the character at `index` (Unicode, table 3-7). @throws FallBack where there is none */
function utf8Length(source: Uint8Array, index: number, end: number): number {
  const first = source[index] as number
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
  if (first < 0xc2 || first > 0xf4 || index + length > end)
    throw new FallBack('the response contains a string that is not valid UTF-8')
  const second = source[index + 1] as number
  const from = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const to = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  let valid = second >= from && second <= to
  for (let offset = 2; offset < length; offset++)
    valid &&= ((source[index + offset] as number) & 0xc0) === 0x80
  if (!valid) throw new FallBack('the response contains a string that is not valid UTF-8')
  return length
}
