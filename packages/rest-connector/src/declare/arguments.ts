import { parseConstValue, valueFromASTUntyped } from 'graphql'
import { RestConfigError } from '../errors.ts'
import { parseTypeReference, type TypeReference } from './fields.ts'

/** One argument of an endpoint, as plain data. A string is short for `{ type }`, and `Int = 10` has a default. */
export interface ArgumentDefinition {
  /** In GraphQL's syntax: `ID!`, `[Int!]`, `PetInput`. */
  readonly type: string
  /** The argument's description in the schema. */
  readonly description?: string | undefined
  /** The value that is sent where the argument is left out: JSON as the API writes it. */
  readonly default?: unknown
  /** Why it should not be used any more. A required argument cannot be deprecated. */
  readonly deprecated?: string | undefined
}

/** An argument whose type is read. */
export interface Argument extends TypeReference, Omit<ArgumentDefinition, 'type'> {}

export function parseArgument(definition: ArgumentDefinition | string): Argument {
  const { type, ...rest } = typeof definition === 'string' ? fromText(definition) : definition
  return { ...parseTypeReference(type), ...rest }
}

/** A type, or a type with its default, as GraphQL's own syntax has it. */
function fromText(text: string): ArgumentDefinition {
  const at = text.indexOf('=')
  if (at < 0) return { type: text }
  try {
    return { type: text.slice(0, at), default: valueFromASTUntyped(parseConstValue(text.slice(at + 1))) }
  } catch (cause) {
    throw new RestConfigError(
      `"${text}" has no value behind "="; write one in GraphQL's syntax, for example "Int = 10"`,
      { cause },
    )
  }
}
