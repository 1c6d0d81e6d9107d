import type { LiveOptions } from '@vinyasa/base'
import { defaultFieldResolver, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql'
import { resolveFieldOptions } from './field-options.ts'
import { filterOfArguments, matchesFilter, type FilterArguments } from './filter.ts'

type Resolver = GraphQLFieldResolver<unknown, unknown>

/** Returns what checks the live options of every root field, and makes those with `filter: 'gateway'` filter. */
export function createGatewayFilter(
  fields: Readonly<Record<string, LiveOptions>>,
  defaults: LiveOptions,
): (schema: GraphQLSchema) => void {
  // A schema may come by more than once, and shares its fields with the one it was made from.
  const filtering = new WeakSet<Resolver>()
  return (schema) => {
    for (const field of Object.values(schema.getQueryType()?.getFields() ?? {})) {
      const { filter } = resolveFieldOptions(field, fields, defaults)
      if (filter !== 'gateway' || (field.resolve && filtering.has(field.resolve))) continue
      field.resolve = filteringResolver(field.resolve ?? defaultFieldResolver)
      filtering.add(field.resolve)
    }
  }
}

function filteringResolver(resolve: Resolver): Resolver {
  return async (source, args, context, info) => {
    const value: unknown = await resolve(source, args, context, info)
    const filter = filterOfArguments(args)
    return filter.size > 0 ? filterEntities(value, filter) : value
  }
}

/** Filters a list, or the lists that an object holds. */
function filterEntities(value: unknown, filter: FilterArguments): unknown {
  if (Array.isArray(value)) return value.filter((item) => matchesFilter(item, filter))
  if (typeof value !== 'object' || value === null) return value
  const lists = Object.entries(value).filter(([, item]) => Array.isArray(item))
  if (lists.length === 0) return value
  const filtered = Object.fromEntries(lists.map(([name, list]) => [name, filterEntities(list, filter)]))
  return Object.assign(Object.create(Object.getPrototypeOf(value)), value, filtered)
}
