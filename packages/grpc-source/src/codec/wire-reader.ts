/** Reads the protobuf wire format. Truncated or overlong input throws; invalid UTF-8 becomes U+FFFD. */
export class WireReader {
  pos = 0
  end: number
  readonly buffer: Buffer
  /** Members of lists and maps that were read. */
  items = 0
  private readonly maxItems: number

  /** `maxItems`: how many members of lists and maps may be read. */
  constructor(bytes: Uint8Array, maxItems: number = 100_000) {
    this.maxItems = maxItems
    this.buffer = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.end = this.buffer.length
  }

  /** An unsigned 32-bit varint; higher bits are dropped, as for a negative int32. */
  uint32(): number {
    let byte = this.byte()
    if (byte < 0x80) return byte
    let result = byte & 0x7f
    for (let shift = 7; shift < 35; shift += 7) {
      byte = this.byte()
      if (shift < 32) result |= (byte & 0x7f) << shift
      if (byte < 0x80) return result >>> 0
    }
    for (let more = 0; more < 5; more++) if (this.byte() < 0x80) return result >>> 0
    throw malformed('a varint is longer than 10 bytes')
  }

  int32(): number {
    return this.uint32() | 0
  }

  sint32(): number {
    const value = this.uint32()
    return (value >>> 1) ^ -(value & 1)
  }

  bool(): boolean {
    let bits = 0
    for (let count = 0; count < 10; count++) {
      const byte = this.byte()
      bits |= byte & 0x7f
      if (byte < 0x80) return bits !== 0
    }
    throw malformed('a varint is longer than 10 bytes')
  }

  int64(): bigint {
    return BigInt.asIntN(64, this.uint64())
  }

  sint64(): bigint {
    const value = this.uint64()
    return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n))
  }

  fixed32(): number {
    return this.buffer.readUInt32LE(this.advance(4))
  }

  sfixed32(): number {
    return this.buffer.readInt32LE(this.advance(4))
  }

  fixed64(): bigint {
    return this.buffer.readBigUInt64LE(this.advance(8))
  }

  sfixed64(): bigint {
    return this.buffer.readBigInt64LE(this.advance(8))
  }

  float(): number {
    return this.buffer.readFloatLE(this.advance(4))
  }

  double(): number {
    return this.buffer.readDoubleLE(this.advance(8))
  }

  string(): string {
    const length = this.uint32()
    const start = this.advance(length)
    return this.buffer.toString('utf8', start, start + length)
  }

  base64(): string {
    const length = this.uint32()
    const start = this.advance(length)
    return this.buffer.toString('base64', start, start + length)
  }

  bytes(): Uint8Array {
    const length = this.uint32()
    const start = this.advance(length)
    return this.buffer.subarray(start, start + length)
  }

  /** Notes a member of a list or map: it may take two bytes here and a hundred in what is made of it. */
  item(): void {
    if (++this.items > this.maxItems) throw new TooManyItemsError(this.maxItems)
  }

  /** Reads a length prefix and narrows the reader to what it covers; give the returned end to `leave`. */
  enter(): number {
    const outer = this.end
    const length = this.uint32()
    if (this.pos + length > outer) throw malformed('a field extends past the end of its message')
    this.end = this.pos + length
    return outer
  }

  leave(outer: number): void {
    this.pos = this.end
    this.end = outer
  }

  /** Narrows the reader to bytes that it gave, for as long as `read` runs. */
  inside<T>(bytes: Uint8Array, read: (reader: WireReader) => T): T {
    const { pos, end } = this
    this.pos = bytes.byteOffset - this.buffer.byteOffset
    this.end = this.pos + bytes.length
    const value = read(this)
    this.pos = pos
    this.end = end
    return value
  }

  rest(): Uint8Array {
    return this.buffer.subarray(this.pos, this.end)
  }

  skip(wireType: number, fieldNumber: number): void {
    if (wireType === 0) this.bool()
    else if (wireType === 1) this.advance(8)
    else if (wireType === 2) this.advance(this.uint32())
    else if (wireType === 5) this.advance(4)
    else if (wireType === 3) this.group(fieldNumber)
    else throw malformed(`unknown wire type ${wireType}`)
  }

  /** What stands between the tags of a group, the first of which was read. */
  group(fieldNumber: number): Uint8Array {
    const start = this.pos
    for (let depth = 1; ;) {
      const end = this.pos
      const tag = this.uint32()
      const wireType = tag & 7
      if (wireType === 3) depth++
      else if (wireType === 4) depth--
      else this.skip(wireType, tag >>> 3)
      if (depth > 0) continue
      if (tag >>> 3 !== fieldNumber) throw malformed('an end-group tag does not match its start-group tag')
      return this.buffer.subarray(start, end)
    }
  }

  private byte(): number {
    if (this.pos >= this.end) throw malformed('the message ends in the middle of a field')
    return this.buffer[this.pos++] ?? 0
  }

  private advance(count: number): number {
    const start = this.pos
    if (start + count > this.end) throw malformed('the message ends in the middle of a field')
    this.pos = start + count
    return start
  }

  uint64(): bigint {
    let low = 0
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.byte()
      low |= (byte & 0x7f) << shift
      if (byte < 0x80) return BigInt(low)
    }
    let result = BigInt(low)
    for (let shift = 28n; shift < 70n; shift += 7n) {
      const byte = this.byte()
      result |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, result)
    }
    throw malformed('a varint is longer than 10 bytes')
  }
}

/** The backend sent bytes that are no message of the declared type, or more of it than is taken. */
export class MalformedMessageError extends Error {
  override name = 'MalformedMessageError'
}

/** More than is taken of it. */
export class TooManyItemsError extends MalformedMessageError {
  readonly maxItems: number

  constructor(maxItems: number) {
    super(
      `the reply has more than ${maxItems} list and map items; request fewer items, or raise maxResponseItems`,
    )
    this.maxItems = maxItems
  }
}

function malformed(reason: string): MalformedMessageError {
  return new MalformedMessageError(`malformed protobuf message: ${reason}`)
}
