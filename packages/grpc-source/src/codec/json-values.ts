import { type BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { MalformedMessageError, type WireReader } from './wire-reader.ts'

/**
 * JSON in the messages of `google/protobuf/struct.proto`. Levels are those of the JSON, of which each is two messages or
 * three: protobuf's own limit would end it at 33.
 */
const MAX_LEVELS = 500

const { Varint, Bit64, LengthDelimited } = WireType

type JsonList = unknown[]
type JsonObject = Record<string, unknown>

/** Numbers of the fields of `google.protobuf.Value`. */
const NULL = 1
const NUMBER = 2
const STRING = 3
const BOOL = 4
const STRUCT = 5
const LIST = 6

/** A `Value` up to the reader's end. One that is unset, NaN or infinite is null, which is what JSON has for it. */
export function readValue(reader: WireReader, level = 0): unknown {
  let kind = NULL
  let value: unknown = null
  while (reader.pos < reader.end) {
    const tag = reader.uint32()
    // The last member of a oneof counts; parts of one message belong together.
    const before = kind === tag >>> 3 ? value : undefined
    switch (tag) {
      case (NULL << 3) | Varint:
        reader.int32()
        value = null
        break
      case (NUMBER << 3) | Bit64: {
        const number = reader.double()
        value = Number.isFinite(number) ? number : null
        break
      }
      case (STRING << 3) | LengthDelimited:
        value = reader.string()
        break
      case (BOOL << 3) | Varint:
        value = reader.bool()
        break
      case (STRUCT << 3) | LengthDelimited:
        value = within(reader, () => readStruct(reader, level + 1, before as JsonObject | undefined))
        break
      case (LIST << 3) | LengthDelimited:
        value = within(reader, () => readList(reader, level + 1, before as JsonList | undefined))
        break
      default:
        reader.skip(tag & 7, tag >>> 3)
        continue
    }
    kind = tag >>> 3
  }
  return value
}

/** A `ListValue` up to the reader's end. */
export function readList(reader: WireReader, level = 0, list: JsonList = []): JsonList {
  readItems(reader, level, () => void list.push(readValue(reader, level)))
  return list
}

/** A `Struct` up to the reader's end. */
export function readStruct(reader: WireReader, level = 0, object: JsonObject = {}): JsonObject {
  readItems(reader, level, () => readEntry(reader, level, object))
  return object
}

/** Reads the items of a `ListValue`, or the entries of a `Struct`. Both have the field number 1. */
function readItems(reader: WireReader, level: number, read: () => void): void {
  checkLevel(level)
  while (reader.pos < reader.end) {
    const tag = reader.uint32()
    if (tag === ((1 << 3) | LengthDelimited)) {
      reader.item()
      within(reader, read)
    } else reader.skip(tag & 7, tag >>> 3)
  }
}

function readEntry(reader: WireReader, level: number, object: JsonObject): void {
  let key = ''
  let value: unknown = null
  while (reader.pos < reader.end) {
    const tag = reader.uint32()
    if (tag === ((1 << 3) | LengthDelimited)) key = reader.string()
    else if (tag === ((2 << 3) | LengthDelimited)) value = within(reader, () => readValue(reader, level))
    else reader.skip(tag & 7, tag >>> 3)
  }
  // Assigned, "__proto__" would be no key.
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}

function within<T>(reader: WireReader, read: () => T): T {
  const { end } = reader
  const length = reader.uint32()
  if (length > end - reader.pos)
    throw new MalformedMessageError(
      'malformed protobuf message: a google.protobuf.Value extends past the end of its message',
    )
  reader.end = reader.pos + length
  const value = read()
  reader.end = end
  return value
}

function checkLevel(level: number): void {
  if (level > MAX_LEVELS)
    throw new MalformedMessageError(`the response contains a JSON value with more than ${MAX_LEVELS} levels`)
}

/** @throws Error for what is no JSON, or has too many levels */
export function writeValue(writer: BinaryWriter, value: unknown, level = 0): BinaryWriter {
  if (value === null) return writer.tag(NULL, Varint).int32(0)
  // Larger than a double can hold exactly: as a string it keeps its digits.
  if (typeof value === 'bigint') return writer.tag(STRING, LengthDelimited).string(String(value))
  if (typeof value === 'string') return writer.tag(STRING, LengthDelimited).string(value)
  if (typeof value === 'boolean') return writer.tag(BOOL, Varint).bool(value)
  if (typeof value === 'number' && Number.isFinite(value)) return writer.tag(NUMBER, Bit64).double(value)
  if (Array.isArray(value)) {
    return writeList(writer.tag(LIST, LengthDelimited).fork(), value, level + 1).join()
  }
  return writeStruct(writer.tag(STRUCT, LengthDelimited).fork(), value, level + 1).join()
}

/** @throws Error for what is no list of JSON values */
export function writeList(writer: BinaryWriter, value: unknown, level = 0): BinaryWriter {
  if (!Array.isArray(value)) throw new Error('a google.protobuf.ListValue must be a list')
  checkLevel(level)
  for (const item of value) writeValue(writer.tag(1, LengthDelimited).fork(), item, level).join()
  return writer
}

/** @throws Error for what is no JSON object */
export function writeStruct(writer: BinaryWriter, value: unknown, level = 0): BinaryWriter {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('a google.protobuf.Struct must be a JSON object')
  checkLevel(level)
  for (const [key, item] of Object.entries(value)) {
    writer.tag(1, LengthDelimited).fork().tag(1, LengthDelimited).string(key)
    writeValue(writer.tag(2, LengthDelimited).fork(), item, level).join().join()
  }
  return writer
}
