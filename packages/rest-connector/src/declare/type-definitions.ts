import type { Deprecable, Described } from './described.ts'

/**
 * Named types of a connector, as plain data. Endpoints name them in `returnType` and `args`, and they name each other.
 * References are written in GraphQL's syntax: `[Pet!]!`.
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
  /** The sort of type; the other settings depend on it. */
  readonly kind: Name
}

interface WithFields {
  /** Its fields by name; of an interface those that its types have in common. */
  readonly fields: Readonly<Record<string, MemberDefinition>>
}

/** A member of an object, of an answer or of what is sent. */
export interface MemberDefinition extends Deprecable {
  /** A type of GraphQL, with its marks: `[Pet!]!`. */
  readonly type: string
  /**
   * The JSON member, when it is not called like the field. Of an answer also a path to it (`address.city`) or the
   * object itself (`$`), as in `responseSchema`; of what is sent it is one member, whatever its name.
   */
  readonly key?: string | undefined
  /** Sends null when a client leaves the field of an `input` out. Default: the member is left out, too. */
  readonly default?: null | undefined
  /** Instead of one JSON member it is all of them but these: entries, or `JSON`. */
  readonly besides?: readonly string[] | undefined
}

export interface ObjectDefinition extends Kind<'object'>, WithFields {
  /** Names of interfaces that it is one of; it has their fields. */
  readonly interfaces?: readonly string[] | undefined
}

/** Tells object types apart: by a member that says which, or by what each of them must have. */
interface Abstract {
  /** The object types, each with what tells it from the others. */
  readonly members: Readonly<Record<string, MemberSigns>>
  /** The JSON member that says which, and the types by its values. */
  readonly discriminator?:
    | {
        /** The JSON member. */
        readonly key: string
        /** Names of object types by its values. */
        readonly types: Readonly<Record<string, string>>
        /** The object type of any other value, and of none. Default: such an object is an error. */
        readonly rest?: string | undefined
      }
    | undefined
}

/** One of several object types. */
export interface UnionDefinition extends Kind<'union'>, Abstract {}

/** One of several object types that have fields in common; each lists it among its `interfaces`. */
export interface InterfaceDefinition extends Kind<'interface'>, WithFields, Abstract {}

/** The JSON members that an object must have to be of a type. */
export interface MemberSigns {
  /** JSON members that must be there. */
  readonly required?: readonly string[] | undefined
  /** JSON members that must be one of these values. */
  readonly constants?: Readonly<Record<string, readonly unknown[]>> | undefined
}

/** An enum; its names stand for values of the API without loss. */
export interface EnumDefinition extends Kind<'enum'> {
  /** Its values by their GraphQL names. */
  readonly values: Readonly<Record<string, EnumValueDefinition>>
}

export interface EnumValueDefinition extends Deprecable {
  /** The value as the API writes it. */
  readonly value: string | number | boolean
}

/** Text of a certain form. */
export interface ScalarDefinition extends Kind<'scalar'> {
  /** A regular expression for what comes in; what the API gives is passed on as it is. Default: any text. */
  readonly pattern?: string | undefined
  /** The address of its specification (`@specifiedBy`). */
  readonly specifiedBy?: string | undefined
}

/**
 * One entry of a JSON object whose members have no fixed names, of an answer or of what is sent: a field that lists entries
 * is such an object.
 */
export interface EntryDefinition extends Kind<'entry' | 'input entry'> {
  /** The type of `value`; `key` is a `String!`. */
  readonly value: string
}

export interface InputDefinition extends Kind<'input'>, WithFields {
  /** Exactly one field is given, and its value stands for the whole (`@oneOf`). */
  readonly isOneOf?: boolean | undefined
}
