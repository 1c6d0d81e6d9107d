import { ScalarType } from '@bufbuild/protobuf'
import { WireType, type BinaryWriter } from '@bufbuild/protobuf/wire'
import { badInputError } from '../errors.ts'
import type { WireReader } from './wire-reader.ts'

/** How 64-bit integers look outside protobuf: always exact, always the same JSON type for one setting. */
export type Int64Mode = 'string' | 'number-when-safe' | 'bigint-scalar'

export interface ScalarCodec {
  readonly wireType: number
  readonly zero: unknown
  read(reader: WireReader): unknown
  /** Checks the value and writes it without a tag. @throws GraphQLError BAD_USER_INPUT */
  write(writer: BinaryWriter, value: unknown, path: string): void
  isZero(value: unknown): boolean
}

interface Bounds<T> {
  readonly min: T
  readonly max: T
}

const LONE_SURROGATE = /\p{Surrogate}/u
const INT64_BOUNDS = { min: -(2n ** 63n), max: 2n ** 63n - 1n }
const UINT64_BOUNDS = { min: 0n, max: 2n ** 64n - 1n }
const INT32_BOUNDS = { min: -(2 ** 31), max: 2 ** 31 - 1 }
const UINT32_BOUNDS = { min: 0, max: 2 ** 32 - 1 }

export function scalarCodecs(int64: Int64Mode): (scalar: ScalarType) => ScalarCodec {
  const codecs: Readonly<Record<ScalarType, ScalarCodec>> = { ...SHORT_CODECS, ...longCodecs(int64) }
  return (scalar) => codecs[scalar]
}

type LongType =
  | ScalarType.INT64
  | ScalarType.SINT64
  | ScalarType.SFIXED64
  | ScalarType.UINT64
  | ScalarType.FIXED64

interface Wire<T> {
  read(this: void, reader: WireReader): T
  write(this: void, writer: BinaryWriter, value: T): unknown
}

const { Varint, Bit32, Bit64, LengthDelimited } = WireType

const SHORT_CODECS: Readonly<Record<Exclude<ScalarType, LongType>, ScalarCodec>> = {
  [ScalarType.INT32]: integer(Varint, INT32_BOUNDS, { read: (r) => r.int32(), write: (w, v) => w.int32(v) }),
  [ScalarType.SINT32]: integer(Varint, INT32_BOUNDS, {
    read: (r) => r.sint32(),
    write: (w, v) => w.sint32(v),
  }),
  [ScalarType.SFIXED32]: integer(Bit32, INT32_BOUNDS, {
    read: (r) => r.sfixed32(),
    write: (w, v) => w.sfixed32(v),
  }),
  [ScalarType.UINT32]: integer(Varint, UINT32_BOUNDS, {
    read: (r) => r.uint32(),
    write: (w, v) => w.uint32(v),
  }),
  [ScalarType.FIXED32]: integer(Bit32, UINT32_BOUNDS, {
    read: (r) => r.fixed32(),
    write: (w, v) => w.fixed32(v),
  }),
  [ScalarType.FLOAT]: float(Bit32, { read: (r) => r.float(), write: (w, v) => w.float(v) }),
  [ScalarType.DOUBLE]: float(Bit64, { read: (r) => r.double(), write: (w, v) => w.double(v) }),
  [ScalarType.BOOL]: {
    wireType: Varint,
    zero: false,
    read: (reader) => reader.bool(),
    write(writer, value, path) {
      if (typeof value !== 'boolean') throw wrongValue(path, 'a boolean', value)
      writer.bool(value)
    },
    isZero: (value) => value === false,
  },
  [ScalarType.STRING]: {
    wireType: LengthDelimited,
    zero: '',
    read: (reader) => reader.string(),
    write(writer, value, path) {
      if (typeof value !== 'string') throw wrongValue(path, 'a string', value)
      if (LONE_SURROGATE.test(value))
        throw wrongValue(path, 'a valid Unicode string, without lone surrogates', value)
      writer.string(value)
    },
    isZero: (value) => value === '',
  },
  [ScalarType.BYTES]: {
    wireType: LengthDelimited,
    zero: '',
    read: (reader) => reader.base64(),
    write: (writer, value, path) => void writer.bytes(toBytes(value, path)),
    isZero: (value) => value === '' || (value instanceof Uint8Array && value.length === 0),
  },
}

function longCodecs(int64: Int64Mode): Readonly<Record<LongType, ScalarCodec>> {
  const fromBigInt = toInt64Value(int64)
  const long = (wireType: number, bounds: Bounds<bigint>, { read, write }: Wire<bigint>): ScalarCodec => ({
    wireType,
    zero: fromBigInt(0n),
    read: (reader) => fromBigInt(read(reader)),
    write: (writer, value, path) => void write(writer, toBigInt(value, bounds, path)),
    isZero: (value) => value === 0n || value === 0 || value === '0',
  })
  return {
    [ScalarType.INT64]: long(Varint, INT64_BOUNDS, { read: (r) => r.int64(), write: (w, v) => w.int64(v) }),
    [ScalarType.SINT64]: long(Varint, INT64_BOUNDS, {
      read: (r) => r.sint64(),
      write: (w, v) => w.sint64(v),
    }),
    [ScalarType.SFIXED64]: long(Bit64, INT64_BOUNDS, {
      read: (r) => r.sfixed64(),
      write: (w, v) => w.sfixed64(v),
    }),
    [ScalarType.UINT64]: long(Varint, UINT64_BOUNDS, {
      read: (r) => r.uint64(),
      write: (w, v) => w.uint64(v),
    }),
    [ScalarType.FIXED64]: long(Bit64, UINT64_BOUNDS, {
      read: (r) => r.fixed64(),
      write: (w, v) => w.fixed64(v),
    }),
  }
}

function integer(wireType: number, bounds: Bounds<number>, { read, write }: Wire<number>): ScalarCodec {
  return {
    wireType,
    zero: 0,
    read,
    write: (writer, value, path) => void write(writer, toInteger(value, bounds, path)),
    isZero: (value) => value === 0,
  }
}

function float(wireType: number, { read, write }: Wire<number>): ScalarCodec {
  return {
    wireType,
    zero: 0,
    // GraphQL's Float has no NaN and no infinities.
    read(reader) {
      const value = read(reader)
      return Number.isFinite(value) ? value : null
    },
    write(writer, value, path) {
      if (typeof value !== 'number') throw wrongValue(path, 'a number', value)
      if (wireType === WireType.Bit32 && Number.isFinite(value) && !Number.isFinite(Math.fround(value))) {
        throw wrongValue(path, 'a number that a 32-bit float can hold', value)
      }
      write(writer, value)
    },
    // -0 is not the zero value: it has a bit set.
    isZero: (value) => Object.is(value, 0),
  }
}

function toInt64Value(mode: Int64Mode): (value: bigint) => string | number | bigint {
  if (mode === 'bigint-scalar') return (value) => value
  if (mode === 'string') return String
  return (value) => {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : String(value)
  }
}

function toBigInt(value: unknown, bounds: Bounds<bigint>, path: string): bigint {
  let result: bigint | undefined
  if (typeof value === 'bigint') result = value
  else if (typeof value === 'number' && Number.isSafeInteger(value)) result = BigInt(value)
  else if (typeof value === 'string' && /^-?\d{1,20}$/.test(value)) result = BigInt(value)
  if (result === undefined || result < bounds.min || result > bounds.max) {
    throw wrongValue(path, `an integer from ${bounds.min} to ${bounds.max}`, value)
  }
  return result
}

function toInteger(value: unknown, bounds: Bounds<number>, path: string): number {
  const number = typeof value === 'string' && /^-?\d{1,10}$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isInteger(number) || number < bounds.min || number > bounds.max) {
    throw wrongValue(path, `an integer from ${bounds.min} to ${bounds.max}`, value)
  }
  return number
}

function toBytes(value: unknown, path: string): Uint8Array {
  if (value instanceof Uint8Array) return value
  if (typeof value === 'string' && isBase64(value)) return Buffer.from(value, 'base64')
  throw wrongValue(path, 'base64 text', value)
}

export function isBase64(value: string): boolean {
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(value) && value.replace(/={1,2}$/, '').length % 4 !== 1
}

export function wrongValue(path: string, expected: string, value: unknown): Error {
  return badInputError(
    `${path === '' ? 'the request' : `"${path}"`} must be ${expected}, got ${shown(value)}`,
  )
}

const SHOWN_CHARACTERS = 60

/** The beginning of a value as an error tells it. Texts are cut first, and lists and objects are only named. */
export function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  if (typeof value !== 'string') return typeof value === 'bigint' ? `${value}n` : String(value)
  return value.length > SHOWN_CHARACTERS
    ? `${JSON.stringify(value.slice(0, SHOWN_CHARACTERS))}…`
    : JSON.stringify(value)
}
