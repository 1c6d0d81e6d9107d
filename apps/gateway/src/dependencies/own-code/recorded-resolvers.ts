import { getRootTypes, type IResolvers } from '@graphql-tools/utils'
import type { GraphQLFieldResolver, GraphQLResolveInfo, GraphQLSchema } from 'graphql'
import { isObjectType } from 'graphql'
import type { ViewOf } from './view-of.ts'

type Code = (...given: readonly unknown[]) => unknown

/** The config's resolvers, each given a view of its context that tells what they read of the request. */
export function withRecordedReads(resolvers: IResolvers, viewOf: ViewOf): IResolvers {
  function ofField(code: Code): Code {
    return (source, args, context, info) =>
      code(source, args, viewOf(context, info as GraphQLResolveInfo), info)
  }

  /** `__resolveType`, `__isTypeOf`, `__resolveReference`. */
  function ofType(code: Code): Code {
    return (value, context, info, type) =>
      code(value, viewOf(context, info as GraphQLResolveInfo), info, type)
  }

  function wrapMember(name: string, member: unknown): unknown {
    if (typeof member === 'function')
      return name.startsWith('__') ? ofType(member as Code) : ofField(member as Code)
    if (typeof member !== 'object' || member === null || !('resolve' in member)) return member
    return typeof member.resolve === 'function'
      ? { ...member, resolve: ofField(member.resolve as Code) }
      : member
  }

  return mapMembers(resolvers, wrapMember)
}

/** Resolvers with other members in place of those of their types. */
export function mapMembers(
  resolvers: IResolvers,
  map: (name: string, member: unknown) => unknown,
): IResolvers {
  const mapped = Object.entries(resolvers).map(([typeName, given]) => {
    if (!isFieldMap(given)) return [typeName, given]
    return [typeName, Object.fromEntries(Object.entries(given).map(([name, one]) => [name, map(name, one)]))]
  })
  return Object.fromEntries(mapped) as IResolvers
}

/** Scalars are objects of a class. */
export function isFieldMap(given: unknown): given is Readonly<Record<string, unknown>> {
  return typeof given === 'object' && given !== null && Object.getPrototypeOf(given) === Object.prototype
}

/** Objects that resolvers give may answer by methods, which are code of the config too. */
export function recordMethods(schema: GraphQLSchema, viewOf: ViewOf): void {
  const resolve: GraphQLFieldResolver<unknown, unknown> = (source, args, context, info) => {
    if (typeof source !== 'object' || source === null) return undefined
    const value = (source as Readonly<Record<string, unknown>>)[info.fieldName]
    return typeof value === 'function'
      ? (value as Code).call(source, args, viewOf(context, info), info)
      : value
  }
  const roots = getRootTypes(schema)
  for (const type of Object.values(schema.getTypeMap())) {
    // Types of sources have no node: their objects are data.
    if (!isObjectType(type) || !type.astNode || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      if (field.resolve) continue
      field.resolve = resolve
      // It reads what came with the object, as graphql's own does.
      if (!roots.has(type)) field.extensions = { ...field.extensions, origin: 'typeDefs' }
    }
  }
}
