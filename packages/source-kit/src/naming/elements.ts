import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql'

/** Something of a source that has a name. */
export interface Element {
  readonly coordinate: string
  readonly name: string
  /** Coordinate of what it is part of. */
  readonly parent: string | undefined
  /** The type of a field or argument; undefined for types and enum values. */
  readonly type: string | undefined
  /** Without it what it is part of cannot be asked for. */
  readonly isRequired: boolean
  readonly kind: 'type' | 'scalar' | 'root' | 'field' | 'input field' | 'argument' | 'value'
}

const ROOTS: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription'])

export function isRoot(typeName: string): boolean {
  return ROOTS.has(typeName)
}

/** A type that only stands for one of another source: types of one name meet when schemas are merged. */
export function isForeign(type: GraphQLNamedType, own: ReadonlySet<string>): boolean {
  return isObjectType(type) && !own.has(type.name) && Object.keys(type.getFields()).length === 0
}

/** Everything in a source's schema that has a name of its own. `own`: object types that have no fields yet. */
export function elementsOf(schema: GraphQLSchema, own: ReadonlySet<string>): readonly Element[] {
  const elements: Element[] = []
  for (const type of Object.values(schema.getTypeMap()))
    if (!isIntrospectionType(type) && !isSpecifiedScalarType(type) && !isForeign(type, own)) addType(type)
  for (const name of own) if (!schema.getType(name)) elements.push(typeNamed(name, 'type'))
  return elements

  function addType(type: GraphQLNamedType): void {
    const { name } = type
    const kind = isRoot(name) ? 'root' : isScalarType(type) ? 'scalar' : 'type'
    elements.push(typeNamed(name, kind))
    if (isEnumType(type)) {
      for (const value of type.getValues())
        elements.push({ ...partOf(name, value.name), type: undefined, isRequired: false, kind: 'value' })
    } else if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields()))
        elements.push({
          ...partOf(name, field.name),
          type: getNamedType(field.type).name,
          isRequired: isRequiredInputField(field),
          kind: 'input field',
        })
    } else if (isObjectType(type) || isInterfaceType(type)) {
      for (const field of Object.values(type.getFields())) {
        const part = partOf(name, field.name)
        elements.push({ ...part, type: getNamedType(field.type).name, isRequired: false, kind: 'field' })
        for (const argument of field.args)
          elements.push({
            coordinate: argumentAt(part.coordinate, argument.name),
            parent: part.coordinate,
            name: argument.name,
            type: getNamedType(argument.type).name,
            isRequired: isRequiredArgument(argument),
            kind: 'argument',
          })
      }
    }
  }
}

function typeNamed(name: string, kind: Element['kind']): Element {
  return { coordinate: name, name, parent: undefined, type: undefined, isRequired: false, kind }
}

/** Members of unions, by the union. */
export function unionsOf(schema: GraphQLSchema): ReadonlyMap<string, readonly string[]> {
  return new Map(
    Object.values(schema.getTypeMap())
      .filter(isUnionType)
      .map((type) => [type.name, type.getTypes().map(({ name }) => name)]),
  )
}

export function partOf(parent: string, name: string): { coordinate: string; parent: string; name: string } {
  return { coordinate: `${parent}.${name}`, parent, name }
}

export function argumentAt(field: string, name: string): string {
  return `${field}(${name}:)`
}
