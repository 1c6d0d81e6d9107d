import { parseTypeReference, type TypeReference } from './fields.ts'

/** One argument of an endpoint, as plain data. A string is short for `{ type }`. */
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
  if (typeof definition === 'string') return parseTypeReference(definition)
  const { type, ...rest } = definition
  return { ...parseTypeReference(type), ...rest }
}
