import {
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationTypeNode,
} from 'graphql'
import type { SelectedField } from '@vinyasa/invalidation'
import type { ResponseCacheOptions } from '../options.ts'
import { cacheControlOf } from './cache-control.ts'

/** The stated lifetime and scope, wherever the statements stand. */
export interface Statements {
  /** The shortest that any asks for. */
  readonly ttlMs: number | undefined
  readonly isPrivate: boolean
}

/**
 * The types of an operation: the root that it stands on, those that its fields stand on and give, what these can be, and
 * the interfaces that they implement.
 */
export function touchedTypes(
  schema: GraphQLSchema,
  operation: OperationTypeNode,
  fields: readonly SelectedField[],
): ReadonlySet<GraphQLNamedType> {
  const touched = new Set<GraphQLNamedType>()

  function touch(type: GraphQLNamedType): void {
    if (touched.has(type)) return
    touched.add(type)
    if (isAbstractType(type)) schema.getPossibleTypes(type).forEach(touch)
    if (isObjectType(type) || isInterfaceType(type)) for (const one of type.getInterfaces()) touched.add(one)
  }

  const root = schema.getRootType(operation)
  if (root) touch(root)
  for (const { parent, definitions } of fields) {
    touch(parent)
    for (const { field } of definitions) touch(getNamedType(field.type))
  }
  return touched
}

/** A field has what is stated of it, of the field of an interface that it comes from, and of every type that is touched. */
export function collectStatements(
  schema: GraphQLSchema,
  touched: ReadonlySet<GraphQLNamedType>,
  fields: readonly SelectedField[],
  { ttlMsBySchemaCoordinate = {} }: Pick<ResponseCacheOptions, 'ttlMsBySchemaCoordinate'>,
): Statements {
  const ttls: number[] = []
  let isPrivate = false

  function note(coordinate: string, definition: GraphQLField<unknown, unknown> | GraphQLNamedType): void {
    const control = cacheControlOf(definition)
    if (control?.maxAgeSeconds !== undefined) ttls.push(control.maxAgeSeconds * 1000)
    if (control?.isPrivate) isPrivate = true
    const ttlMs = Object.hasOwn(ttlMsBySchemaCoordinate, coordinate)
      ? ttlMsBySchemaCoordinate[coordinate]
      : undefined
    if (ttlMs !== undefined) ttls.push(ttlMs)
  }

  for (const type of touched) note(type.name, type)
  for (const { typeName, field } of fields.flatMap(({ definitions }) => definitions)) {
    note(`${typeName}.${field.name}`, field)
    const type = schema.getType(typeName)
    if (!isObjectType(type) && !isInterfaceType(type)) continue
    for (const parent of type.getInterfaces()) {
      const inherited = parent.getFields()[field.name]
      if (inherited) note(`${parent.name}.${field.name}`, inherited)
    }
  }
  return { ttlMs: ttls.length > 0 ? Math.min(...ttls) : undefined, isPrivate }
}
