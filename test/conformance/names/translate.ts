import type { Random } from '@vinyasa/test-kit'
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isListType,
  isScalarType,
  isUnionType,
  parse,
  print,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type GraphQLInputType,
  type GraphQLSchema,
  type NameNode,
} from 'graphql'
import type { Operation } from './draw-operation.ts'

/** New names by coordinate. Each new name is like no other text, so that answers can be read in the old ones. */
export type Renames = ReadonlyMap<string, string>

/** Fields that joins put there: their names are the server's. */
export const JOINED: ReadonlySet<string> = new Set(['Pet.owner', 'Pet.ownerAlone', 'Person.pet'])

export function drawRenames(schema: GraphQLSchema, random: Random, chance: number): Renames {
  const renames = new Map<string, string>()
  const add = (coordinate: string): void => {
    if (random.chance(chance)) renames.set(coordinate, `Zq${renames.size}z`)
  }
  for (const type of Object.values(schema.getTypeMap())) {
    if (isIntrospectionType(type) || isScalarType(type)) continue
    if (!['Query', 'Mutation'].includes(type.name)) add(type.name)
    if (isEnumType(type)) for (const value of type.getValues()) add(`${type.name}.${value.name}`)
    if (isEnumType(type) || isUnionType(type)) continue
    for (const field of Object.values(type.getFields())) {
      const coordinate = `${type.name}.${field.name}`
      if (JOINED.has(coordinate)) continue
      add(coordinate)
      if ('args' in field) for (const arg of field.args) add(`${coordinate}(${arg.name}:)`)
    }
  }
  return renames
}

/** The operation for a server on which everything is called otherwise. */
export function translate(schema: GraphQLSchema, renames: Renames, operation: Operation): Operation {
  const info = new TypeInfo(schema)
  const rename = <Node extends { readonly name: NameNode }>(node: Node, coordinate: string): Node => ({
    ...node,
    name: { ...node.name, value: renames.get(coordinate) ?? node.name.value },
  })
  const document = visit(
    parse(operation.query),
    visitWithTypeInfo(info, {
      NamedType: { leave: (node) => rename(node, node.name.value) },
      Field: { leave: (node) => rename(node, `${info.getParentType()?.name ?? ''}.${node.name.value}`) },
      Argument: {
        leave: (node) =>
          rename(
            node,
            `${info.getParentType()?.name ?? ''}.${info.getFieldDef()?.name ?? ''}(${node.name.value}:)`,
          ),
      },
      ObjectField: {
        leave: (node) =>
          rename(node, `${getNamedType(info.getParentInputType())?.name ?? ''}.${node.name.value}`),
      },
      EnumValue: {
        leave: (node) => ({
          ...node,
          value: renames.get(`${getNamedType(info.getInputType())?.name ?? ''}.${node.value}`) ?? node.value,
        }),
      },
    }),
  )
  const variables = Object.entries(operation.variables).map(([name, value]) => [
    name,
    renamed(operation.types[name] as GraphQLInputType, value),
  ])
  return { ...operation, query: print(document), variables: Object.fromEntries(variables) }

  function renamed(type: GraphQLInputType, value: unknown): unknown {
    const nullable = getNullableType(type) as GraphQLInputType
    if (value === null) return null
    if (isListType(nullable))
      return (value as unknown[]).map((item) => renamed(nullable.ofType as GraphQLInputType, item))
    if (isEnumType(nullable)) return renames.get(`${nullable.name}.${String(value)}`) ?? value
    if (!isInputObjectType(nullable)) return value
    const fields = nullable.getFields()
    return Object.fromEntries(
      Object.entries(value as object).map(([name, one]) => [
        renames.get(`${nullable.name}.${name}`) ?? name,
        renamed(fields[name]?.type as GraphQLInputType, one),
      ]),
    )
  }
}

/** A text in the old names. */
export function readBack(renames: Renames, text: string): string {
  const old = new Map(
    [...renames].map(([coordinate, name]) => [name, coordinate.replace(/^.*[.(]|:\)$/g, '')]),
  )
  return text.replaceAll(/Zq\d+z/g, (name) => old.get(name) ?? name)
}
