import type { Deprecable, Described } from './described.ts'

/**
 * Named types of a connector, as plain data. Endpoints use them in `returnType` and `args`, and types can refer to each other.
 * References have GraphQL syntax: `[Pet!]!`.
 */
export type TypeDefinitions = Readonly<Record<string, TypeDefinition>>

export type TypeDefinition =
  | ObjectDefinition
  | UnionDefinition
  | InterfaceDefinition
  | EnumDefinition
  | ScalarDefinition
  | EntryDefinition
  | InputDefinition

interface Kind<Name extends string> extends Described {
  /** The kind of type. It determines which properties are allowed. */
  readonly kind: Name
}

interface WithFields {
  /** Fields by name. An interface lists the fields that its types share. */
  readonly fields: Readonly<Record<string, MemberDefinition>>
}

/** A field of an object or input type. */
export interface MemberDefinition extends Deprecable {
  /** The GraphQL type: `[Pet!]!`. */
  readonly type: string
  /**
   * The JSON property, if its name differs from the field's. In responses it can also be a path (`address.city`) or the object
   * itself (`$`), as in `responseSchema`. In inputs it is always one property name.
   */
  readonly key?: string | undefined
  /** Sends null if a client omits the field of an `input`. Default: the JSON property is omitted. */
  readonly default?: null | undefined
  /** Collects all JSON properties except these, as entries or `JSON`. */
  readonly besides?: readonly string[] | undefined
}

export interface ObjectDefinition extends Kind<'object'>, WithFields {
  /** Names of the interfaces that the type implements. It has their fields. */
  readonly interfaces?: readonly string[] | undefined
}

/** Distinguishes object types by a discriminator, or by the properties that each type requires. */
interface Abstract {
  /** The object types, with the properties that identify each type. */
  readonly members: Readonly<Record<string, MemberSigns>>
  /** The JSON property that contains the type, and the types by its values. */
  readonly discriminator?:
    | {
        /** The JSON property. */
        readonly key: string
        /** Names of object types by value of the property. */
        readonly types: Readonly<Record<string, string>>
        /** The object type for unknown or missing values. Default: such an object is an error. */
        readonly rest?: string | undefined
      }
    | undefined
}

/** One of several object types. */
export interface UnionDefinition extends Kind<'union'>, Abstract {}

/** One of several object types with shared fields. Each of them lists the interface in its `interfaces`. */
export interface InterfaceDefinition extends Kind<'interface'>, WithFields, Abstract {}

/** The JSON properties that identify objects of a type. */
export interface MemberSigns {
  /** JSON properties that must exist. */
  readonly required?: readonly string[] | undefined
  /** JSON properties that must have one of these values. */
  readonly constants?: Readonly<Record<string, readonly unknown[]>> | undefined
}

/** An enum. Its names map to values of the API without loss. */
export interface EnumDefinition extends Kind<'enum'> {
  /** Values by GraphQL name. */
  readonly values: Readonly<Record<string, EnumValueDefinition>>
}

export interface EnumValueDefinition extends Deprecable {
  /** The value in the API. */
  readonly value: string | number | boolean
}

/** A string scalar. */
export interface ScalarDefinition extends Kind<'scalar'> {
  /** A regular expression for input values. Values from the API are not checked. Default: any string. */
  readonly pattern?: string | undefined
  /** The URL of its specification (`@specifiedBy`). */
  readonly specifiedBy?: string | undefined
}

/**
 * One entry of a JSON object with arbitrary keys. A list of entries maps to the JSON object, in responses or inputs.
 */
export interface EntryDefinition extends Kind<'entry' | 'input entry'> {
  /** The type of `value`; `key` is a `String!`. */
  readonly value: string
}

export interface InputDefinition extends Kind<'input'>, WithFields {
  /** Clients set exactly one field, and only its value is sent (`@oneOf`). */
  readonly isOneOf?: boolean | undefined
}
