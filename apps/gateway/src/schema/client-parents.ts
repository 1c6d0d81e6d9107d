import { keyed } from '@vinyasa/base'
import type { IResolvers } from '@graphql-tools/utils'
import { memberOf } from '@vinyasa/source-kit'
import type { GraphQLObjectType, GraphQLResolveInfo } from 'graphql'

type Resolver = (parent: unknown, args: unknown, context: unknown, info: GraphQLResolveInfo) => unknown

/**
 * The config's resolvers, given their parents by the names that clients know: objects of sources hold their members as
 * the source calls them.
 */
export function withClientParents(resolvers: IResolvers): IResolvers {
  const views = createViews()

  function wrap(resolver: unknown): unknown {
    if (typeof resolver === 'function')
      return (parent: unknown, args: unknown, context: unknown, info: GraphQLResolveInfo) =>
        (resolver as Resolver)(views(parent, info.parentType), args, context, info)
    if (typeof resolver !== 'object' || resolver === null || !('resolve' in resolver)) return resolver
    return { ...resolver, resolve: wrap(resolver.resolve) }
  }

  const mapped = Object.entries(resolvers).map(([typeName, given]) => {
    if (!isFieldMap(given)) return [typeName, given]
    const members = Object.entries(given)
    return [
      typeName,
      Object.fromEntries(members.map(([name, one]) => [name, name.startsWith('__') ? one : wrap(one)])),
    ]
  })
  return Object.fromEntries(mapped) as IResolvers
}

/** Scalars are objects of a class. */
export function isFieldMap(given: unknown): given is Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null && Object.getPrototypeOf(given) === Object.prototype
}

/** Copies, so that a resolver may pass its parent on to a field of the same type. */
function createViews(): (parent: unknown, type: GraphQLObjectType) => unknown {
  const renamedIn = keyed(
    (type: GraphQLObjectType) =>
      Object.values(type.getFields()).flatMap((field) => {
        const member = memberOf(field)
        return member === undefined || member === field.name ? [] : [[field.name, member] as const]
      }),
    new WeakMap<GraphQLObjectType, (readonly [client: string, own: string])[]>(),
  )

  return (parent, type) => {
    const names = renamedIn(type)
    if (typeof parent !== 'object' || parent === null || names.length === 0) return parent
    const values = parent as Readonly<Record<string, unknown>>
    const known = names.filter(([, own]) => Object.hasOwn(values, own))
    return { ...values, ...Object.fromEntries(known.map(([client, own]) => [client, values[own]])) }
  }
}
