import { Kind, parseType, type TypeNode } from 'graphql'
import { RestConfigError } from '../errors.ts'
import type { Described } from './described.ts'

/** A field of a typed response, as plain data. A string is short for `{ type }`. */
export interface FieldDefinition extends Described {
  /**
   * A kind (`int`, `string`, `float`, `boolean`, `id`, `long`, `json`) or the name of an object type. Lists and non-null have
   * GraphQL syntax: `id!`, `[string!]`, `[Address!]!`.
   */
  readonly type: string
  /**
   * The JSON property with the value, if its name differs from the field's, or a path (`address.city`, `lines[0].text`). A
   * property with exactly this name has priority over the path. `$.address.city` is a path only, and `$['address.city']` a
   * property only. `$` is the object itself: the fields of an object type then read properties of the parent. Missing values
   * are null.
   */
  readonly key?: string | undefined
  /** Declares a nested object type with these fields. */
  readonly fields?: FieldDefinitions | undefined
}

export type FieldDefinitions = Readonly<Record<string, FieldDefinition | string>>

/** Builds a field definition. Each step returns a new builder. */
export interface FieldBuilder extends FieldDefinition {
  /** Returns the same field as non-null. */
  readonly required: FieldBuilder
  describe(description: string): FieldBuilder
  /** Reads the JSON property or path `key` instead of the property with the field's name. `$` reads the object itself. */
  from(key: string): FieldBuilder
}

/** Kinds of response fields: `field.id.required`, `field.list(field.string)`, `field.object('Address')`. */
export interface FieldKinds {
  readonly int: FieldBuilder
  readonly string: FieldBuilder
  readonly float: FieldBuilder
  readonly boolean: FieldBuilder
  readonly id: FieldBuilder
  /** An exact 64-bit integer. It is a string in JSON. */
  readonly long: FieldBuilder
  readonly json: FieldBuilder
  /** Refers to an object type by name. `fields` declare the type here; otherwise another endpoint or source declares it. */
  object(typeName: string, fields?: FieldDefinitions): FieldBuilder
  list(item: FieldDefinition): FieldBuilder
}

export const field: FieldKinds = {
  int: builder({ type: 'Int' }),
  string: builder({ type: 'String' }),
  float: builder({ type: 'Float' }),
  boolean: builder({ type: 'Boolean' }),
  id: builder({ type: 'ID' }),
  long: builder({ type: 'Long' }),
  json: builder({ type: 'JSON' }),
  object: (typeName, fields) => builder({ type: typeName, ...(fields && { fields }) }),
  list: ({ type, fields }) => builder({ type: `[${type}]`, ...(fields && { fields }) }),
}

/** The steps are not enumerable, so a builder is also plain data. */
function builder(definition: FieldDefinition): FieldBuilder {
  const { type } = definition
  return Object.defineProperties(
    { ...definition },
    {
      required: { get: () => builder({ ...definition, type: type.endsWith('!') ? type : `${type}!` }) },
      describe: { value: (description: string) => builder({ ...definition, description }) },
      from: { value: (key: string) => builder({ ...definition, key }) },
    },
  ) as FieldBuilder
}

const KINDS = new Map([
  ['int', 'Int'],
  ['string', 'String'],
  ['float', 'Float'],
  ['boolean', 'Boolean'],
  ['id', 'ID'],
  ['long', 'Long'],
  ['json', 'JSON'],
])

/** Scalars without a definition. */
export const SCALARS: ReadonlySet<string> = new Set(KINDS.values())

export interface TypeReference {
  /** GraphQL syntax, kinds replaced by their scalars: `[ID!]!`. */
  readonly text: string
  /** The named type inside all wrappers. */
  readonly name: string
  readonly isList: boolean
  readonly isNonNull: boolean
}

/** A name with an optional `!`. Most references have this form. */
const PLAIN = /^([_A-Za-z]\w*)(!?)$/

export function parseTypeReference(text: string): TypeReference {
  const [, plain, mark] = PLAIN.exec(text) ?? []
  const printed =
    plain === undefined ? printReference(parseTypeText(text)) : `${KINDS.get(plain) ?? plain}${mark}`
  return {
    text: printed,
    name: printed.replaceAll(/[[\]!]/g, ''),
    isList: printed.startsWith('['),
    isNonNull: printed.endsWith('!'),
  }
}

/** Parses a type: `[Pet!]!`. @throws RestConfigError */
export function parseTypeText(text: string): TypeNode {
  try {
    return parseType(text, { noLocation: true })
  } catch (cause) {
    throw new RestConfigError(
      `"${text}" is not a valid type; write a scalar such as string, int or long, or the name of a type, optionally with [ ] and !, for example "[string!]"`,
      { cause },
    )
  }
}

function printReference(node: TypeNode): string {
  switch (node.kind) {
    case Kind.NON_NULL_TYPE:
      return `${printReference(node.type)}!`
    case Kind.LIST_TYPE:
      return `[${printReference(node.type)}]`
    case Kind.NAMED_TYPE:
      return KINDS.get(node.name.value) ?? node.name.value
  }
}
