/**
 * Named types of a connector, as plain data. Endpoints name them in `returnType` and `args`, and they name each other.
 * References are written in GraphQL's syntax: `[Pet!]!`.
 */
export type TypeDefinitions = Readonly<Record<string, TypeDefinition>>

export type TypeDefinition =
  | ObjectDefinition
  | UnionDefinition
  | EnumDefinition
  | ScalarDefinition
  | EntryDefinition
  | InputDefinition
  | InputEntryDefinition

interface Described {
  readonly description?: string | undefined
}

/** A member of an object, of an answer or of what is sent. */
export interface MemberDefinition extends Described {
  readonly type: string
  /** The JSON member, when it is not called like the field. */
  readonly key?: string | undefined
  readonly deprecated?: string | undefined
}

export interface ObjectDefinition extends Described {
  readonly kind: 'object'
  readonly fields: Readonly<Record<string, MemberDefinition>>
}

/** One of several object types: by a member that says which, or by what each of them must have. */
export interface UnionDefinition extends Described {
  readonly kind: 'union'
  /** The object types, each with what tells it from the others. */
  readonly members: Readonly<Record<string, MemberSigns>>
  /** The JSON member that says which, and the types by its values. */
  readonly discriminator?:
    | { readonly key: string; readonly types: Readonly<Record<string, string>> }
    | undefined
}

/** What an object must have to be of a type. */
export interface MemberSigns {
  /** JSON members that must be there. */
  readonly required?: readonly string[] | undefined
  /** JSON members that must be one of these values. */
  readonly constants?: Readonly<Record<string, readonly unknown[]>> | undefined
}

/** An enum; its names stand for values of the API without loss. */
export interface EnumDefinition extends Described {
  readonly kind: 'enum'
  readonly values: Readonly<Record<string, EnumValueDefinition>>
}

export interface EnumValueDefinition extends Described {
  /** As the API writes it. */
  readonly value: string | number | boolean
  readonly deprecated?: string | undefined
}

/** Text of a certain form. */
export interface ScalarDefinition extends Described {
  readonly kind: 'scalar'
  /** A regular expression for what comes in; what the API gives is passed on as it is. Default: any text. */
  readonly pattern?: string | undefined
  readonly specifiedBy?: string | undefined
}

/** One entry of a JSON object whose members have no fixed names: a field that lists entries is such an object. */
export interface EntryDefinition extends Described {
  readonly kind: 'entry'
  /** The type of `value`; `key` is a `String!`. */
  readonly value: string
}

export interface InputDefinition extends Described {
  readonly kind: 'input'
  readonly fields: Readonly<Record<string, MemberDefinition>>
  /** Exactly one field is given, and its value stands for the whole (`@oneOf`). */
  readonly isOneOf?: boolean | undefined
}

/** {@link EntryDefinition} of what is sent. */
export interface InputEntryDefinition extends Described {
  readonly kind: 'input entry'
  readonly value: string
}
