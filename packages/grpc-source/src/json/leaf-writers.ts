import { FallBack } from '@vinyasa/source-kit'
import { ScalarType } from '@bufbuild/protobuf'
import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLInt,
  GraphQLString,
  getNullableType,
  isLeafType,
  isNonNullType,
  isScalarType,
  type GraphQLLeafType,
  type GraphQLOutputType,
} from 'graphql'
import { formatTimestamp, readTime } from '../codec/time.ts'
import { leafReader, leafZero } from '../codec/leaf-reader.ts'
import { isOwnScalar, type CustomScalar } from '../mapping/scalars.ts'
import type { LeafKind } from '../contract/shapes.ts'
import type { Transcoder, WriteValue } from './transcoder.ts'
import type { LeafOptions } from '../codec/decode.ts'

const NULL = Buffer.from('null')
const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')

/** Writes one scalar or enum value; undefined where `type` is no leaf. `isNonNull`: a null is for ordinary execution. */
export function leafWriter(
  value: LeafKind,
  type: GraphQLOutputType,
  isNonNull: boolean,
  options: LeafOptions,
): WriteValue | undefined {
  if (!isLeafType(type)) return undefined
  const writeNull = ({ json }: Transcoder): void => {
    if (isNonNull) throw new FallBack(`a value of the non-nullable type ${type.name}! is null`)
    json.raw(NULL)
  }
  if (value.kind === 'enum') return enumWriter(value, type, writeNull, options)
  const fast = value.kind === 'scalar' ? scalarWriter(value.scalar, type, writeNull, options) : undefined
  if (fast) return fast
  const isTimestamp = value.kind === 'wellKnown' && value.type === 'google.protobuf.Timestamp'
  if (isTimestamp && value.group === 0 && isOwn(type, 'DateTime')) return writeTimestamp
  const read = leafReader(value, options)
  return (transcoder) => {
    const json = leafToJson(read(transcoder.reader), type)
    if (json === undefined) writeNull(transcoder)
    else transcoder.json.text(json)
  }
}

/**
 * Returns the JSON that ordinary execution would make of a value; undefined for null. @throws whatever is not
 * for a plan to answer
 */
export function leafToJson(value: unknown, type: GraphQLLeafType): string | undefined {
  if (value === null || value === undefined) return undefined
  if (value instanceof Error) throw new FallBack(value.message)
  const serialized: unknown = type.serialize(value)
  const json = serialized === null ? undefined : JSON.stringify(serialized)
  if (json === undefined)
    throw new FallBack(
      `the GraphQL type ${type.name} serialized a value to null or to a value that JSON cannot represent`,
    )
  return json
}

/**
 * Returns the JSON of a value without presence that is not set. `value`: undefined where it is told apart from its zero.
 * Undefined for null where none may be.
 */
export function absentJson(
  value: LeafKind | undefined,
  type: GraphQLOutputType,
  options: LeafOptions,
): Uint8Array | undefined {
  const nullable = getNullableType(type)
  const json = value && isLeafType(nullable) ? leafToJson(leafZero(value, options), nullable) : undefined
  if (json !== undefined) return Buffer.from(json)
  return isNonNullType(type) ? undefined : NULL
}

function enumWriter(
  value: Extract<LeafKind, { readonly kind: 'enum' }>,
  type: GraphQLLeafType,
  writeNull: (transcoder: Transcoder) => void,
  options: LeafOptions,
): WriteValue {
  const read = leafReader(value, options)
  const jsonOf = new Map<unknown, Uint8Array>()
  for (const name of options.shapes.enum(value.enum).nameOf.values()) {
    // A value that the type does not know is an error, which ordinary execution words.
    try {
      const json = leafToJson(name, type)
      if (json !== undefined) jsonOf.set(name, Buffer.from(json))
    } catch {
      continue
    }
  }
  return (transcoder) => {
    const name = read(transcoder.reader)
    const json = jsonOf.get(name)
    if (json) transcoder.json.raw(json)
    else if (name === null) writeNull(transcoder)
    else
      throw new FallBack(
        `the response contains an enum value that the GraphQL type ${type.name} does not define`,
      )
  }
}

/** The scalars that need no value of JavaScript's in between, or a small one. */
function scalarWriter(
  scalar: ScalarType,
  type: GraphQLLeafType,
  writeNull: (transcoder: Transcoder) => void,
  { shapes, scalars }: LeafOptions,
): WriteValue | undefined {
  switch (scalar) {
    case ScalarType.STRING:
      if (type !== GraphQLString) return undefined
      return ({ reader, json }) => {
        const length = reader.uint32()
        const start = reader.pos
        reader.pos = start + length
        if (reader.pos > reader.end) throw new FallBack('the response contains a truncated string')
        json.string(reader.buffer, start, start + length)
      }
    case ScalarType.BOOL:
      if (type !== GraphQLBoolean) return undefined
      return ({ reader, json }) => json.raw(reader.bool() ? TRUE : FALSE)
    case ScalarType.INT32:
      return type === GraphQLInt ? ({ reader, json }) => json.integer(reader.int32()) : undefined
    case ScalarType.SINT32:
      return type === GraphQLInt ? ({ reader, json }) => json.integer(reader.sint32()) : undefined
    case ScalarType.SFIXED32:
      return type === GraphQLInt ? ({ reader, json }) => json.integer(reader.sfixed32()) : undefined
    case ScalarType.UINT32:
      return isOwn(type, 'UInt32') ? ({ reader, json }) => json.integer(reader.uint32()) : undefined
    case ScalarType.FIXED32:
      return isOwn(type, 'UInt32') ? ({ reader, json }) => json.integer(reader.fixed32()) : undefined
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT: {
      if (type !== GraphQLFloat) return undefined
      const isDouble = scalar === ScalarType.DOUBLE
      return (transcoder) => {
        const number = isDouble ? transcoder.reader.double() : transcoder.reader.float()
        if (Number.isFinite(number)) transcoder.json.number(number)
        else writeNull(transcoder)
      }
    }
    case ScalarType.BYTES:
      if (!isOwn(type, 'Bytes') && !isOwn(type, 'Upload')) return undefined
      return ({ reader, json }) => json.quoted(reader.base64())
    default: {
      // 64-bit integers as strings; the other forms are written the general way.
      const isText = shapes.options.int64 === 'string' && type === GraphQLString
      if (!isText && !isOwn(type, 'BigInt')) return undefined
      const { read } = scalars(scalar)
      return ({ reader, json }) => json.quoted(String(read(reader)))
    }
  }
}

function writeTimestamp({ reader, json }: Transcoder): void {
  const outer = reader.enter()
  const text = formatTimestamp(readTime(reader))
  reader.leave(outer)
  if (typeof text !== 'string') throw new FallBack(text.message)
  json.quoted(text)
}

function isOwn(type: GraphQLLeafType, name: CustomScalar): boolean {
  return isScalarType(type) && isOwnScalar(type, name)
}
