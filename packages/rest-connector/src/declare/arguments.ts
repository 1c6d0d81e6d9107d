import {
  type ConstValueNode,
  type GraphQLInputType,
  GraphQLSchema,
  Kind,
  parseConstValue,
  parseType,
  specifiedScalarTypes,
  typeFromAST,
  valueFromAST,
} from 'graphql'
import { RestConfigError } from '../errors.ts'
import type { Deprecable } from './described.ts'
import { parseTypeReference, type TypeReference } from './fields.ts'

/** An argument of an endpoint, as plain data. A string is short for `{ type }`, and `Int = 10` has a default. */
export interface ArgumentDefinition extends Deprecable {
  /** The type in GraphQL syntax: `ID!`, `[Int!]`, `PetInput`. */
  readonly type: string
  /** The JSON value that is sent if the argument is omitted, in the format of the API. */
  readonly default?: unknown
}

export interface Argument extends TypeReference, Omit<ArgumentDefinition, 'type'> {}

export function parseArgument(definition: ArgumentDefinition | string): Argument {
  const { type, ...rest } = typeof definition === 'string' ? fromText(definition) : definition
  return { ...parseTypeReference(type), ...rest }
}

/** Parses a type, or a type with a default, in GraphQL syntax. */
function fromText(text: string): ArgumentDefinition {
  const at = text.indexOf('=')
  if (at < 0) return { type: text }
  const type = text.slice(0, at)
  const { text: printed } = parseTypeReference(type)
  // The values of other types can be checked only after the schema was created.
  const known = typeFromAST(new GraphQLSchema({ types: specifiedScalarTypes }), parseType(printed) as never)
  let value: ConstValueNode
  try {
    value = parseConstValue(text.slice(at + 1))
  } catch (cause) {
    throw new RestConfigError(
      `"${text}" has no valid GraphQL value after "="; write a value as in "Int = 10"`,
      { cause },
    )
  }
  if (known && valueFromAST(value, known as GraphQLInputType) === undefined)
    throw new RestConfigError(
      `the default of "${text}" is not a valid ${type.trim()}; write a value of that type`,
    )
  return { type, default: plain(value) }
}

/** Converts the value to plain data. Unsafe integers stay strings, which `Long` accepts. */
function plain(value: ConstValueNode): unknown {
  if (value.kind === Kind.LIST) return value.values.map(plain)
  if (value.kind === Kind.OBJECT)
    return Object.fromEntries(value.fields.map((field) => [field.name.value, plain(field.value)]))
  if (value.kind === Kind.NULL) return null
  if (value.kind === Kind.FLOAT) return Number(value.value)
  if (value.kind !== Kind.INT) return value.value
  return Number.isSafeInteger(Number(value.value)) ? Number(value.value) : value.value
}
