import {
  astFromValue,
  buildSchema,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type GraphQLType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
  print,
} from 'graphql'
import { isRootName } from '../../../coordinates.ts'
import { type Dialect, toCamel } from './dialects.ts'

/**
 * The schema that an old gateway made of the protos, out of the one that is made of them here, and the name that each type had.
 */
export function oldSchemaOf(
  schema: GraphQLSchema,
  dialect: Dialect,
): { readonly schema: GraphQLSchema; readonly names: ReadonlyMap<string, string> } {
  const writer = new OldSchema(schema, dialect)
  return { schema: buildSchema(writer.write(), { assumeValidSDL: true }), names: writer.names }
}

class OldSchema {
  readonly names: ReadonlyMap<string, string>
  readonly #schema: GraphQLSchema
  readonly #dialect: Dialect

  constructor(schema: GraphQLSchema, dialect: Dialect) {
    this.#schema = schema
    this.#dialect = dialect
    this.names = new Map(
      Object.values(schema.getTypeMap()).flatMap((type) => {
        const old = this.#nameOf(type)
        return old === undefined ? [] : [[type.name, old] as const]
      }),
    )
  }

  write(): string {
    const types = Object.values(this.#schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))
    const lines = types.flatMap((type) => {
      if (isObjectType(type)) return this.#object(type)
      if (isInputObjectType(type)) return isChoice(type) ? [] : [this.#input(type)]
      if (!isEnumType(type)) return []
      return [
        `enum ${this.#named(type)} { ${type
          .getValues()
          .map(({ name }) => name)
          .join(' ')} }`,
      ]
    })
    const structs = this.#schema.getType('JSON') ? [`type ${this.#dialect.struct} { fields: String }`] : []
    const uploads = this.#schema.getType('Upload') ? ['scalar Upload'] : []
    return [...lines, ...structs, ...uploads].join('\n')
  }

  #nameOf(type: GraphQLNamedType): string | undefined {
    const [, message] = /: ([\w.]+) \([^()]*\)$/.exec(String(type.extensions['origin'] ?? '')) ?? []
    // A choice is a type here alone.
    if (message === undefined || isChoice(type)) return undefined
    const kind = isEnumType(type) ? 'Enum' : isInputObjectType(type) ? 'Input' : 'Type'
    const nested = isEntry(type, message) ? `.${entryName(type.name, message)}` : ''
    return this.#dialect.typeName(message + nested, kind)
  }

  #object(type: GraphQLObjectType): string[] {
    const fields = Object.values(type.getFields())
    const own = fields.filter(({ type: given }) => getNamedType(given) === type)
    const textOf = (field: (typeof fields)[number]): string =>
      `${field.name}${this.#arguments(field.args, isRootName(type.name))}: ${this.#output(field.type, type)}`
    const name = this.#named(type)
    if (own.length === 0 || !this.#dialect.isGo || isRootName(type.name))
      return [`type ${name} { ${fields.map(textOf).join('\n')} }`]
    const parent = name.replace('_Type_', '_Interface_')
    const others = fields.filter((field) => !own.includes(field))
    return [
      `type ${name} implements ${parent} { ${fields.map(textOf).join('\n')} }`,
      `interface ${parent} { ${others.map(textOf).join('\n')} }`,
    ]
  }

  #input(type: GraphQLInputObjectType): string {
    const fields = Object.values(type.getFields()).flatMap((field) => this.#asInputs(field))
    return `input ${this.#named(type)} { ${fields.join('\n')} }`
  }

  #arguments(args: readonly GraphQLArgument[], isOfRoot: boolean): string {
    const [first] = args
    const wraps = isOfRoot && args.length === 1 && first && isInputObjectType(getNullableType(first.type))
    if (wraps) return `(${first.name}: ${this.#bare(first.type)}${this.#dialect.isGo ? '!' : ''})`
    const texts = args.flatMap((argument) => this.#asInputs(argument))
    return texts.length === 0 ? '' : `(${texts.join(', ')})`
  }

  /** A choice of several was each of them. */
  #asInputs(element: GraphQLArgument | GraphQLInputField): string[] {
    const named = getNamedType(element.type)
    if (isChoice(named)) return Object.values(named.getFields()).flatMap((arm) => this.#asInputs(arm))
    const isRequired = isNonNullType(element.type)
    return [`${element.name}: ${this.#inputType(element.type, isRequired)}${this.#defaultOf(element)}`]
  }

  #defaultOf({ type, defaultValue }: GraphQLArgument | GraphQLInputField): string {
    const value = this.#dialect.isGo && defaultValue !== undefined ? astFromValue(defaultValue, type) : null
    return value ? ` = ${print(value)}` : ''
  }

  #inputType(type: GraphQLType, isRequired: boolean): string {
    const text = this.#bare(type)
    if (!isListType(getNullableType(type))) return isRequired ? `${text}!` : text
    return isRequired ? `[${text}!]${this.#dialect.isGo ? '!' : ''}` : `[${text}]`
  }

  #output(type: GraphQLType, parent: GraphQLObjectType): string {
    const nullable = getNullableType(type)
    const named = getNamedType(type)
    const cyclic =
      named === parent && this.#dialect.isGo
        ? this.#named(parent).replace('_Type_', '_Interface_')
        : undefined
    const text = cyclic ?? this.#bare(type)
    if (isListType(nullable)) {
      const isMap = isObjectType(named) && named.name.endsWith('Entry') && !this.#dialect.isGo
      return isMap ? text : `[${text}]`
    }
    return isNonNullType(type) && !isEntry(parent, '') ? `${text}!` : text
  }

  #bare(type: GraphQLType): string {
    return this.#named(getNamedType(type))
  }

  #named(type: GraphQLNamedType): string {
    const { name } = type
    if (isSpecifiedScalarType(type) || isRootName(name)) return name
    const scalar = this.#dialect.scalars[name]
    if (scalar !== undefined) return scalar
    return name === 'JSON' ? this.#dialect.struct : (this.names.get(name) ?? name)
  }
}

function isChoice(type: GraphQLNamedType): type is GraphQLInputObjectType {
  return isInputObjectType(type) && type.isOneOf
}

/** `{ key value }` of a map: a type that is made of a part of its message. */
function isEntry(type: GraphQLNamedType, message: string): boolean {
  if (!isObjectType(type) && !isInputObjectType(type)) return false
  const keys = Object.keys(type.getFields()).join(' ')
  return keys === 'key value' && /Entry(Input)?$/.test(type.name) && !message.endsWith('Entry')
}

/** `ItemLabelsEntry` of `shop.Item` is `LabelsEntry`, as protoc calls it. */
function entryName(name: string, message: string): string {
  const parent = message.split('.').findLast((part) => name.includes(part)) ?? ''
  const field = name.slice(name.indexOf(parent) + parent.length).replace(/Input$/, '')
  return toCamel(field)
}
