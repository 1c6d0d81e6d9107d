import { ScalarType, type DescEnum } from '@bufbuild/protobuf'
import { createJsonScalar, withoutBigInts } from '@vinyasa/source-kit'
import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLFloat,
  GraphQLInt,
  GraphQLString,
  type GraphQLScalarType,
} from 'graphql'
import type { Comments } from '../descriptors/comments.ts'
import type { TypeNames } from '../contract/names.ts'
import { createScalar, type CustomScalar } from './scalars.ts'
import type { LeafKind, Shapes, ValueKind } from '../contract/shapes.ts'
import { WELL_KNOWN } from '../contract/well-known.ts'

/** One type for one name, made once. */
export type Once = <T>(name: string, make: (name: string) => T) => T

export function createOnce(): Once {
  const made = new Map<string, unknown>()
  return <T>(name: string, make: (name: string) => T): T => {
    const known = made.get(name) as T | undefined
    if (known !== undefined) return known
    const type = make(name)
    made.set(name, type)
    return type
  }
}

/** Scalars and enums. */
export interface LeafTypes {
  customScalar(name: CustomScalar | 'JSON'): GraphQLScalarType
  scalarType(scalar: ScalarType, direction: 'input' | 'output'): GraphQLScalarType
  of(value: LeafKind, direction: 'input' | 'output'): GraphQLScalarType | GraphQLEnumType
}

const SCALAR_TYPES: Partial<Record<ScalarType, GraphQLScalarType>> = {
  [ScalarType.BOOL]: GraphQLBoolean,
  [ScalarType.STRING]: GraphQLString,
  [ScalarType.FLOAT]: GraphQLFloat,
  [ScalarType.DOUBLE]: GraphQLFloat,
  [ScalarType.INT32]: GraphQLInt,
  [ScalarType.SINT32]: GraphQLInt,
  [ScalarType.SFIXED32]: GraphQLInt,
}

export function createLeafTypes(options: {
  readonly shapes: Shapes
  readonly names: TypeNames
  readonly comments: Comments
  readonly once: Once
  readonly origin: (desc: DescEnum) => string
}): LeafTypes {
  const { shapes, names, comments, once, origin } = options
  const { options: mapping } = shapes

  function customScalar(name: CustomScalar | 'JSON'): GraphQLScalarType {
    return once(name, (typeName) =>
      name === 'JSON'
        ? createJsonScalar(mapping.int64 === 'bigint-scalar' ? withoutBigInts : undefined)
        : createScalar(name, typeName),
    )
  }

  function scalarType(scalar: ScalarType, direction: 'input' | 'output'): GraphQLScalarType {
    const standard = SCALAR_TYPES[scalar]
    if (standard) return standard
    if (scalar === ScalarType.BYTES)
      return customScalar(direction === 'input' && mapping.uploads ? 'Upload' : 'Bytes')
    if (scalar === ScalarType.UINT32 || scalar === ScalarType.FIXED32) return customScalar('UInt32')
    if (mapping.int64 === 'string') return GraphQLString
    return customScalar(mapping.int64 === 'bigint-scalar' ? 'BigInt' : 'Long')
  }

  function of(value: LeafKind, direction: 'input' | 'output'): GraphQLScalarType | GraphQLEnumType {
    if (value.kind === 'enum') return enumType(value.enum)
    const mapped = value.kind === 'scalar' ? value.scalar : WELL_KNOWN[value.type]
    return typeof mapped === 'string' ? customScalar(mapped) : scalarType(mapped, direction)
  }

  function enumType(desc: DescEnum): GraphQLEnumType {
    return once(names.of(desc), (name) => {
      // An alias has a value of its own: replies have the first name of a number, requests may have any.
      const values = [...shapes.enum(desc).values].map(([graphqlName, value]) => {
        const deprecationReason = value.deprecated ? 'deprecated in the proto' : undefined
        return [
          graphqlName,
          { value: graphqlName, description: comments.of(value), deprecationReason },
        ] as const
      })
      return new GraphQLEnumType({
        name,
        description: comments.of(desc),
        values: Object.fromEntries(values),
        extensions: { origin: origin(desc) },
      })
    })
  }

  return { customScalar, scalarType, of }
}

/**
 * Values that a reply can hold and GraphQL cannot show read as null, also inside lists and maps: enum numbers newer than
 * the protos, NaN and infinities, JSON values and times out of range.
 */
export function canReadAsNull(value: ValueKind): boolean {
  switch (value.kind) {
    case 'enum':
      return true
    case 'scalar':
      return isFloat(value.scalar)
    case 'wellKnown': {
      const mapped = WELL_KNOWN[value.type]
      return mapped === 'JSON' || mapped === 'DateTime' || (typeof mapped === 'number' && isFloat(mapped))
    }
    case 'message':
      return false
  }
}

function isFloat(scalar: ScalarType): boolean {
  return scalar === ScalarType.DOUBLE || scalar === ScalarType.FLOAT
}
