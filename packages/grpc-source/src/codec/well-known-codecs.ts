import { create, fromBinary, ScalarType, toBinary, type Registry } from '@bufbuild/protobuf'
import { protoSnakeCase } from '@bufbuild/protobuf/reflect'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { FieldMaskSchema } from '@bufbuild/protobuf/wkt'
import type { WellKnownType } from '../contract/well-known.ts'
import { decodeAny, encodeAny } from './any.ts'
import { readList, readStruct, readValue, writeList, writeStruct, writeValue } from './json-values.ts'
import { wrongValue, type ScalarCodec } from './scalar-codecs.ts'
import {
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
  readTime,
  type SecondsAndNanos,
} from './time.ts'
import type { WireReader } from './wire-reader.ts'

/** Converts a well-known message between its bytes, which go up to the reader's end, and its GraphQL value. */
export interface WellKnownCodec {
  decode(reader: WireReader): unknown
  encode(value: unknown, path: string): Uint8Array
}

export function wellKnownCodecs(
  registry: Registry,
  scalars: (scalar: ScalarType) => ScalarCodec,
): (type: WellKnownType) => WellKnownCodec {
  function wrapper(scalar: ScalarType): WellKnownCodec {
    const codec = scalars(scalar)
    return {
      decode(reader) {
        let value = codec.zero
        while (reader.pos < reader.end) {
          const tag = reader.uint32()
          if (tag >>> 3 === 1 && (tag & 7) === codec.wireType) value = codec.read(reader)
          else reader.skip(tag & 7, tag >>> 3)
        }
        return value
      },
      encode(value, path) {
        const writer = new BinaryWriter()
        if (!codec.isZero(value)) codec.write(writer.tag(1, codec.wireType), value, path)
        return writer.finish()
      },
    }
  }

  const codecs: Readonly<Record<WellKnownType, WellKnownCodec>> = {
    'google.protobuf.Timestamp': {
      decode: (reader) => formatTimestamp(readTime(reader)),
      encode: (value, path) => writeTime(parseTimestamp(value, path)),
    },
    'google.protobuf.Duration': {
      decode: (reader) => formatDuration(readTime(reader)),
      encode: (value, path) => writeTime(parseDuration(value, path)),
    },
    'google.protobuf.FieldMask': {
      decode: (reader) => fromBinary(FieldMaskSchema, reader.rest()).paths.map(toCamelPath).join(','),
      encode: (value, path) =>
        toBinary(
          FieldMaskSchema,
          create(FieldMaskSchema, { paths: toMaskPaths(value, path).map(protoSnakeCase) }),
        ),
    },
    'google.protobuf.Struct': jsonCodec('a JSON object with at most 500 levels', readStruct, writeStruct),
    'google.protobuf.Value': jsonCodec('a JSON value with at most 500 levels', readValue, writeValue),
    'google.protobuf.ListValue': jsonCodec('a JSON array with at most 500 levels', readList, writeList),
    'google.protobuf.Any': {
      decode: (reader) => decodeAny(reader.rest(), registry),
      encode: (value, path) =>
        encodeJson(
          path,
          'an object with "@type" (the name of a message in the protos) and the fields of that message, or with "@type" and "value" (the message in base64)',
          value,
          () => encodeAny(value, registry),
        ),
    },
    'google.protobuf.DoubleValue': wrapper(ScalarType.DOUBLE),
    'google.protobuf.FloatValue': wrapper(ScalarType.FLOAT),
    'google.protobuf.Int64Value': wrapper(ScalarType.INT64),
    'google.protobuf.UInt64Value': wrapper(ScalarType.UINT64),
    'google.protobuf.Int32Value': wrapper(ScalarType.INT32),
    'google.protobuf.UInt32Value': wrapper(ScalarType.UINT32),
    'google.protobuf.BoolValue': wrapper(ScalarType.BOOL),
    'google.protobuf.StringValue': wrapper(ScalarType.STRING),
    'google.protobuf.BytesValue': wrapper(ScalarType.BYTES),
  }
  return (type) => codecs[type]
}

function writeTime({ seconds, nanos }: SecondsAndNanos): Uint8Array {
  const writer = new BinaryWriter()
  if (seconds !== 0n) writer.tag(1, WireType.Varint).int64(seconds)
  if (nanos !== 0) writer.tag(2, WireType.Varint).int32(nanos)
  return writer.finish()
}

function jsonCodec(
  expected: string,
  read: (reader: WireReader) => unknown,
  write: (writer: BinaryWriter, value: unknown) => BinaryWriter,
): WellKnownCodec {
  return {
    decode: (reader) => read(reader),
    encode: (value, path) =>
      encodeJson(path, expected, value, () => write(new BinaryWriter(), value).finish()),
  }
}

function encodeJson(path: string, expected: string, value: unknown, convert: () => Uint8Array): Uint8Array {
  try {
    return convert()
  } catch {
    throw wrongValue(path, expected, value)
  }
}

/** The library takes 150 ns for each character of a path. */
const MAX_MASK_LENGTH = 16_384

function toMaskPaths(value: unknown, path: string): string[] {
  const isShort = (Array.isArray(value) ? value.join() : String(value)).length <= MAX_MASK_LENGTH
  const paths: unknown[] =
    typeof value === 'string' && isShort
      ? value.split(',').filter((part) => part !== '')
      : Array.isArray(value)
        ? value
        : []
  const valid = isShort && paths.every((part) => typeof part === 'string' && /^[\w.]+$/.test(part.trim()))
  if (!valid || (paths.length === 0 && value !== '' && !Array.isArray(value))) {
    throw wrongValue(
      path,
      `field paths such as "name,address.street" with at most ${MAX_MASK_LENGTH} characters`,
      value,
    )
  }
  return (paths as string[]).map((part) => part.trim())
}

function toCamelPath(path: string): string {
  return path.replace(/_([a-z0-9])/g, (_, char: string) => char.toUpperCase())
}
