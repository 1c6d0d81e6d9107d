import { mapSchema, MapperKind } from '@graphql-tools/utils'
import { defaultFieldResolver, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql'
import type { Refusals } from './access-rules.ts'
import { refusedField } from '../errors.ts'

/** The same schema for those who may not have all of an operation. */
export interface GuardedSchema {
  readonly schema: GraphQLSchema
  /** Says what of the operation with this context fails in place of being resolved. */
  refuse(context: object, refused: Refusals): void
}

/**
 * A schema whose guarded fields fail where they are refused: null, path, lists, abstract types and what bubbles are
 * then GraphQL's own. The schema that it is made of stays as it is, so that who may have everything pays nothing.
 */
export function createGuardedSchema(schema: GraphQLSchema, guarded: ReadonlySet<string>): GuardedSchema {
  const refusals = new WeakMap<object, Refusals>()

  function guard(
    coordinate: string,
    name: string,
    resolve: GraphQLFieldResolver<unknown, unknown>,
  ): typeof resolve {
    return (source, args, context, info) => {
      // A joined field may read its key through this one.
      const refused = info.fieldName === name ? refusals.get(context as object)?.get(coordinate) : undefined
      if (refused) throw refusedField(refused)
      return resolve(source, args, context, info)
    }
  }

  return {
    schema: mapSchema(schema, {
      [MapperKind.OBJECT_FIELD](field, name, typeName) {
        const coordinate = `${typeName}.${name}`
        if (!guarded.has(coordinate)) return undefined
        return { ...field, resolve: guard(coordinate, name, field.resolve ?? defaultFieldResolver) }
      },
    }),
    refuse: (context, refused) => void refusals.set(context, refused),
  }
}
