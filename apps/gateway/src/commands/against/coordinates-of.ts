import {
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  isUnionType,
} from 'graphql'

/** Something that clients may name, and what stands around it. */
export interface Named {
  /** `Type`, `Type.field`, `Enum.VALUE`, `Type.field(argument:)`. */
  readonly coordinate: string
  readonly name: string
  /** The coordinate that it is a part of; undefined for types. */
  readonly parent: string | undefined
  /** The type of fields and arguments, with its marks. */
  readonly type: string | undefined
  readonly kind:
    | 'object'
    | 'interface'
    | 'union'
    | 'enum'
    | 'input'
    | 'scalar'
    | 'field'
    | 'argument'
    | 'input field'
    | 'value'
}

/** All that clients of a schema may name, by coordinate. */
export function coordinatesOf(schema: GraphQLSchema): ReadonlyMap<string, Named> {
  const named = new Map<string, Named>()
  const add = (one: Named): void => void named.set(one.coordinate, one)
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || isSpecifiedScalarType(type)) continue
    add({
      coordinate: type.name,
      name: type.name,
      parent: undefined,
      type: undefined,
      kind: kindOf(type),
    })
    addMembers(type, add)
  }
  return named
}

function addMembers(type: GraphQLNamedType, add: (one: Named) => void): void {
  const parent = type.name
  if (isEnumType(type))
    for (const { name } of type.getValues())
      add({ coordinate: `${parent}.${name}`, name, parent, type: undefined, kind: 'value' })
  if (isInputObjectType(type))
    for (const field of Object.values(type.getFields()))
      add({
        coordinate: `${parent}.${field.name}`,
        name: field.name,
        parent,
        type: String(field.type),
        kind: 'input field',
      })
  if (!isObjectType(type) && !isInterfaceType(type)) return
  for (const field of Object.values(type.getFields())) {
    const coordinate = `${parent}.${field.name}`
    add({ coordinate, name: field.name, parent, type: String(field.type), kind: 'field' })
    for (const argument of field.args)
      add({
        coordinate: `${coordinate}(${argument.name}:)`,
        name: argument.name,
        parent: coordinate,
        type: String(argument.type),
        kind: 'argument',
      })
  }
}

function kindOf(type: GraphQLNamedType): Named['kind'] {
  if (isObjectType(type)) return 'object'
  if (isInterfaceType(type)) return 'interface'
  if (isUnionType(type)) return 'union'
  if (isEnumType(type)) return 'enum'
  return isInputObjectType(type) ? 'input' : 'scalar'
}

/** A type's name without the marks of lists and non-null. */
export function bareType(type: string): string {
  return type.replaceAll(/[[\]!]/g, '')
}
