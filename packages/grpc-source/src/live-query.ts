import { getNamedType, getNullableType, isListType, isObjectType, type GraphQLOutputType } from 'graphql'
import type { LiveQueryAnnotation } from './annotations.ts'

/** What stands in a field's `extensions.liveQuery`: the method's option with derived triggers filled in. */
export function toLiveQueryExtension(
  live: LiveQueryAnnotation,
  type: GraphQLOutputType,
): LiveQueryAnnotation & { readonly triggers: readonly string[] } {
  const explicit = live.triggers?.length ? live.triggers : undefined
  const { volatility, ...rest } = live
  return {
    ...rest,
    ...(volatility === undefined ? {} : { volatility }),
    triggers:
      explicit ??
      entityNames(type).flatMap((name) =>
        ['create', 'update', 'delete'].map((operation) => `${name}.${operation}`),
      ),
  }
}

/** The returned type and the types of its list fields. */
function entityNames(type: GraphQLOutputType): string[] {
  const named = getNamedType(type)
  if (!isObjectType(named)) return []
  const items = Object.values(named.getFields())
    .map((field) => getNullableType(field.type))
    .filter(isListType)
    .map((list) => getNamedType(list))
    .filter(isObjectType)
    .map(({ name }) => name)
  return [...new Set([named.name, ...items])]
}
