import { stringifySlices } from '@vinyasa/base'
import { FallBack } from '@vinyasa/source-kit'
import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  isEnumType,
  isSpecifiedScalarType,
  type GraphQLLeafType,
} from 'graphql'
import type { WritePieces } from './object-plan.ts'

/** The JSON text of a value that is not null. @throws FallBack */
export type WriteLeaf = (value: unknown) => string

// Control characters, quotes, backslashes and surrogates; a lone surrogate is escaped in JSON.
const ESCAPED = /[\u0000-\u001f"\\\ud800-\udfff]/ // oxlint-disable-line no-control-regex

function quote(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`
}

function fallBack(type: GraphQLLeafType): never {
  throw new FallBack(`the backend sent a value that is not of type ${type.name}`)
}

/** Values of the kind that is declared are written here; others are for the type to convert, or to refuse. */
export function leafWriter(type: GraphQLLeafType, isScalar: boolean): WriteLeaf {
  switch (type) {
    case GraphQLString:
      return (value) => (typeof value === 'string' ? quote(value) : fallBack(type))
    case GraphQLID:
      return (value) =>
        typeof value === 'string'
          ? quote(value)
          : Number.isInteger(value)
            ? `"${String(value)}"`
            : fallBack(type)
    case GraphQLInt:
      return (value) => (typeof value === 'number' && (value | 0) === value ? `${value}` : fallBack(type))
    case GraphQLFloat:
      return (value) => (typeof value === 'number' && Number.isFinite(value) ? `${value}` : fallBack(type))
    case GraphQLBoolean:
      return (value) => (value === true ? 'true' : value === false ? 'false' : fallBack(type))
    default:
      return (value) => {
        if (isScalar && typeof value === 'object') return fallBack(type)
        return converted(type, value, JSON.stringify)
      }
  }
}

/** A value that its type has converted, as `write` writes it. */
function converted<Written>(
  type: GraphQLLeafType,
  value: unknown,
  write: (output: unknown) => Written | undefined,
): Written {
  let written: Written | undefined
  try {
    const output: unknown = type.serialize(value)
    if (output !== null && output !== undefined) written = write(output)
  } catch {
    // Ordinary execution words it.
  }
  return written ?? fallBack(type)
}

/** The pieces of what a scalar of any content holds; undefined for other types. */
export function leafPieces(type: GraphQLLeafType, isScalar: boolean): WritePieces | undefined {
  if (isScalar || isEnumType(type) || isSpecifiedScalarType(type)) return undefined
  return (value) => converted(type, value, stringifySlices)
}
