import { isScalar, type RandomField, type RandomMessage, type RandomProto } from './random-proto.ts'
import type { Random } from './random.ts'

const STRINGS = [
  '',
  'plain',
  String.fromCharCode(...Array.from({ length: 36 }, (_, code) => code)),
  'with "quotes" \\ and \n\t\u0001\u007f',
  'Łódź 🎉 \u2028',
  '\ufeffmark',
  'x'.repeat(300),
  '__proto__',
  'constructor',
]
const NOT_UTF8 = [
  [0xff],
  [0xc3],
  [0xe2, 0x82],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0x61, 0x80],
  [0xc0, 0xaf],
]
const INTEGERS = [
  0n,
  1n,
  -1n,
  127n,
  128n,
  300n,
  -5n,
  2n ** 31n - 1n,
  -(2n ** 31n),
  2n ** 32n - 1n,
  2n ** 53n,
  2n ** 63n - 1n,
  -(2n ** 63n),
  2n ** 64n - 1n,
]
const FLOATS = [
  0,
  -0,
  1,
  -1.5,
  0.1,
  1e21,
  1e-7,
  123456789,
  3.4e38,
  Number.MAX_VALUE,
  5e-324,
  Number.NaN,
  Number.POSITIVE_INFINITY,
]

/** What is no time is an error at its place, and among many errors there would be little else. */
const SECONDS = [...Array.from({ length: 12 }, () => [0n, 1_700_000_000n, -1n]).flat(), 2n ** 50n]
const NANOS = [
  ...Array.from({ length: 12 }, () => [0n, 5_000_000n, 123_456_789n]).flat(),
  2_000_000_000n,
  -1n,
]

/**
 * Bytes of a message as a backend might send them, and as none should: fields in any order and apart from their
 * likes, packed and not, twice where once is meant, unknown, of another wire type, cut off, or damaged.
 */
export function randomReply(random: Random, proto: RandomProto, message: RandomMessage): Buffer {
  // Most replies are plain; the others have a few faults, so that each fault is seen alone too.
  const oddity = random.chance(0.6) ? 0 : random.pick([0.01, 0.05, 0.2])
  const bytes = messageBytes(message, 0)
  if (!random.chance(oddity * 2) || bytes.length === 0) return bytes
  if (random.chance(0.5)) return bytes.subarray(0, random.int(bytes.length))
  bytes[random.int(bytes.length)] = random.int(256)
  return bytes

  function messageBytes({ fields }: RandomMessage, depth: number): Buffer {
    const pieces: Buffer[] = []
    for (const field of fields) {
      if (random.chance(0.25)) continue
      pieces.push(...occurrences(field, depth))
    }
    if (random.chance(oddity)) pieces.push(unknownField())
    return Buffer.concat(random.chance(0.3) ? random.shuffle(pieces) : pieces)
  }

  function occurrences(field: RandomField, depth: number): Buffer[] {
    const { number, label, type } = field
    if (random.chance(oddity)) return [wrongType(number)]
    if (label === 'map') {
      return random.times(0, 3, () => {
        const key = [tagged(1, field.key ?? 'string', depth)]
        const value = [tagged(2, type, depth)]
        const entry = [...(random.chance(0.1) ? [] : key), ...(random.chance(0.1) ? [] : value)]
        if (random.chance(oddity)) entry.push(tagged(2, type, depth))
        return lengthDelimited(number, Buffer.concat(random.chance(0.2) ? entry.reverse() : entry))
      })
    }
    if (label === 'group') return [group(field, depth)]
    if (label !== 'repeated') {
      return random.times(1, random.chance(oddity) ? 3 : 1, () =>
        field.isKey && random.chance(0.9) ? keyBytes(field) : tagged(number, type, depth),
      )
    }
    const count = random.chance(0.1) && depth === 0 ? 30 : random.int(4)
    if (!isPackable(type) || random.chance(0.3)) {
      return Array.from({ length: count }, () => tagged(number, type, depth))
    }
    const packed = Buffer.concat(Array.from({ length: count }, () => bare(type, depth)))
    const cut = random.chance(oddity) ? packed.subarray(0, random.int(packed.length + 1)) : packed
    const pieces = [lengthDelimited(number, cut)]
    if (random.chance(oddity)) pieces.push(tagged(number, type, depth))
    return pieces
  }

  function keyBytes({ number, type }: RandomField): Buffer {
    const value = random.int(3)
    if (type === 'string') return lengthDelimited(number, Buffer.from(`${value || ''}`))
    if (type === 'StringValue')
      return lengthDelimited(
        number,
        value === 0 ? Buffer.alloc(0) : lengthDelimited(1, Buffer.from(`${value}`)),
      )
    const bytes = type === 'double' ? Buffer.from(new Float64Array([value]).buffer) : varint(BigInt(value))
    return Buffer.concat([varint(BigInt(number * 8 + wireType(type))), bytes])
  }

  function group({ number, type }: RandomField, depth: number): Buffer {
    return Buffer.concat([
      varint(BigInt(number * 8 + 3)),
      ...(random.chance(0.5) ? [tagged(1, 'string', depth)] : []),
      ...random.times(0, 2, () => tagged(2, 'sint32', depth)),
      ...(random.chance(0.5) ? [tagged(3, type, depth)] : []),
      varint(BigInt((random.chance(oddity) ? number + 1 : number) * 8 + 4)),
    ])
  }

  function tagged(number: number, type: string, depth: number): Buffer {
    return Buffer.concat([varint(BigInt(number * 8 + wireType(type))), bare(type, depth)])
  }

  function bare(type: string, depth: number): Buffer {
    switch (type) {
      case 'double':
        return Buffer.from(new Float64Array([random.pick(FLOATS)]).buffer)
      case 'float':
        return Buffer.from(new Float32Array([random.pick(FLOATS)]).buffer)
      case 'fixed32':
      case 'sfixed32':
        return Buffer.from(new Int32Array([random.int(4) * 1_000_000_007]).buffer)
      case 'fixed64':
      case 'sfixed64':
        return Buffer.from(new BigInt64Array([BigInt.asIntN(64, random.pick(INTEGERS))]).buffer)
      case 'string':
        return withLength(
          random.chance(oddity)
            ? Buffer.from(random.pick(NOT_UTF8))
            : Buffer.from(random.chance(0.2) ? String.fromCharCode(random.int(128)) : random.pick(STRINGS)),
        )
      case 'bytes':
        return withLength(Buffer.from(random.times(0, 9, () => random.int(256))))
      case 'bool':
        return varint(random.chance(oddity) ? random.pick(INTEGERS) : BigInt(random.int(2)))
      case 'E':
        return varint(random.chance(oddity) ? random.pick(INTEGERS) : random.pick([0n, 1n, 2n, -3n]))
      default:
        return isScalar(type) ? varint(random.pick(INTEGERS)) : withLength(nested(type, depth))
    }
  }

  function nested(type: string, depth: number): Buffer {
    const message = proto.messages.find(({ name }) => name === type)
    if (message) return depth > 1 + random.int(2) ? Buffer.alloc(0) : messageBytes(message, depth + 1)
    if (random.chance(oddity)) return Buffer.from(random.times(0, 6, () => random.int(256)))
    switch (type) {
      case 'Timestamp':
      case 'Duration':
        return Buffer.concat([
          ...(random.chance(0.8) ? [Buffer.of(8), varint(random.pick(SECONDS))] : []),
          ...(random.chance(0.5) ? [Buffer.of(16), varint(random.pick(NANOS))] : []),
        ])
      case 'FieldMask':
        return Buffer.concat(
          random.times(0, 2, () => lengthDelimited(1, Buffer.from(random.pick(['a', 'a_b.c'])))),
        )
      case 'Value':
        return value()
      case 'ListValue':
        return Buffer.concat(random.times(0, 2, () => lengthDelimited(1, value())))
      case 'Struct':
        return Buffer.concat(
          random.times(0, 2, (index) =>
            lengthDelimited(
              1,
              Buffer.concat([lengthDelimited(1, Buffer.from(`k${index}`)), lengthDelimited(2, value())]),
            ),
          ),
        )
      case 'Any':
        return random.chance(0.3)
          ? Buffer.alloc(0)
          : Buffer.concat([
              lengthDelimited(1, Buffer.from(`type.googleapis.com/t.${random.pick(['M0', 'Unknown'])}`)),
              lengthDelimited(2, Buffer.from(random.times(0, 3, () => random.int(256)))),
            ])
      case 'Empty':
      case 'Nothing':
        return Buffer.alloc(0)
      default:
        // Wrappers.
        return random.chance(0.3) ? Buffer.alloc(0) : tagged(1, WRAPPED[type] ?? 'string', depth)
    }
  }

  function value(): Buffer {
    return random.pick([
      () => Buffer.of(8, 0),
      () => Buffer.concat([Buffer.of(0x11), bare('double', 0)]),
      () => lengthDelimited(3, Buffer.from(random.pick(STRINGS))),
      () => Buffer.of(0x20, 1),
      () => lengthDelimited(5, nested('Struct', 0)),
      () => lengthDelimited(6, nested('ListValue', 0)),
      () => Buffer.alloc(0),
    ])()
  }

  function unknownField(): Buffer {
    const number = 4000 + random.int(3)
    return random.pick([
      () => Buffer.concat([varint(BigInt(number * 8)), varint(random.pick(INTEGERS))]),
      () => Buffer.concat([varint(BigInt(number * 8 + 1)), Buffer.alloc(8, 7)]),
      () => lengthDelimited(number, Buffer.from('unknown')),
      () => Buffer.concat([varint(BigInt(number * 8 + 5)), Buffer.alloc(4, 7)]),
      () =>
        Buffer.concat([
          varint(BigInt(number * 8 + 3)),
          tagged(1, 'string', 0),
          varint(BigInt(number * 8 + 4)),
        ]),
    ])()
  }

  function wrongType(number: number): Buffer {
    return random.pick([
      () => Buffer.concat([varint(BigInt(number * 8)), varint(random.pick(INTEGERS))]),
      () => Buffer.concat([varint(BigInt(number * 8 + 1)), Buffer.alloc(8, 1)]),
      () => lengthDelimited(number, Buffer.from(random.times(0, 4, () => random.int(128)))),
      () => Buffer.concat([varint(BigInt(number * 8 + 5)), Buffer.alloc(4, 1)]),
      () => Buffer.concat([varint(BigInt(number * 8 + 3)), varint(BigInt(number * 8 + 4))]),
      () => varint(BigInt(number * 8 + random.pick([4, 6, 7]))),
    ])()
  }
}

const WRAPPED: Readonly<Record<string, string>> = {
  StringValue: 'string',
  Int64Value: 'int64',
  UInt32Value: 'uint32',
  DoubleValue: 'double',
  BoolValue: 'bool',
  BytesValue: 'bytes',
}

function isPackable(type: string): boolean {
  return type === 'E' || (isScalar(type) && type !== 'string' && type !== 'bytes')
}

function wireType(type: string): number {
  if (type === 'double' || type === 'fixed64' || type === 'sfixed64') return 1
  if (type === 'float' || type === 'fixed32' || type === 'sfixed32') return 5
  return isPackable(type) ? 0 : 2
}

function lengthDelimited(number: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([varint(BigInt(number * 8 + 2)), withLength(bytes)])
}

function withLength(bytes: Uint8Array): Buffer {
  return Buffer.concat([varint(BigInt(bytes.length)), bytes])
}

function varint(value: bigint): Buffer {
  const bytes: number[] = []
  for (let rest = BigInt.asUintN(64, value); ; rest >>= 7n) {
    if (rest < 0x80n) return Buffer.from([...bytes, Number(rest)])
    bytes.push(Number(rest & 0x7fn) | 0x80)
  }
}
