const FIRST_BYTES = 1 << 12
/** Bytes that are kept between uses. */
const KEPT_BYTES = 1 << 17

/** Bytes that are about to be sent, in memory that is used again and again. */
export class OutBuffer {
  bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  length = 0

  byte(value: number): void {
    this.room(1)
    this.bytes[this.length++] = value
  }

  uint32(value: number): void {
    this.room(4)
    this.bytes.writeUInt32BE(value, this.length)
    this.length += 4
  }

  uint16(value: number): void {
    this.byte(value >>> 8)
    this.byte(value & 0xff)
  }

  copy(bytes: Uint8Array): void {
    this.room(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  /** A text as HPACK has it: its length and its characters, one byte each. */
  text(text: string): void {
    const { length } = text
    this.room(length + 6)
    const { bytes } = this
    if (length < 127) bytes[this.length++] = length
    else {
      bytes[this.length++] = 127
      let rest = length - 127
      for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[this.length++] = (rest % 128) | 128
      bytes[this.length++] = rest
    }
    if (length > 40) {
      this.length += bytes.write(text, this.length, 'latin1')
      return
    }
    let at = this.length
    for (let index = 0; index < length; index++) bytes[at++] = text.charCodeAt(index)
    this.length = at
  }

  /** A field that the peer need not remember. */
  field(name: string, value: string, neverIndexed: boolean = false): void {
    this.byte(neverIndexed ? 0x10 : 0)
    this.text(name)
    this.text(value)
  }

  /** Nine bytes in front of what is written next. Source: RFC 9113, section 4.1. */
  frame(length: number, type: number, flags: number, stream: number): void {
    this.room(9)
    const { bytes } = this
    const at = this.length
    bytes[at] = length >>> 16
    bytes[at + 1] = length >>> 8
    bytes[at + 2] = length
    bytes[at + 3] = type
    bytes[at + 4] = flags
    bytes[at + 5] = stream >>> 24
    bytes[at + 6] = stream >>> 16
    bytes[at + 7] = stream >>> 8
    bytes[at + 8] = stream
    this.length = at + 9
  }

  /** Says how long a frame has become. */
  resizeFrame(at: number, length: number): void {
    this.bytes.writeUIntBE(length, at, 3)
  }

  /** A copy of all that was written, and begins anew. */
  take(): Buffer {
    const written = Buffer.from(this.bytes.subarray(0, this.length))
    this.length = 0
    if (this.bytes.length > KEPT_BYTES) this.bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
    return written
  }

  private room(count: number): void {
    const needed = this.length + count
    if (needed <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2))
    larger.set(this.bytes.subarray(0, this.length))
    this.bytes = larger
  }
}
