import { defaultFieldResolver, type GraphQLField, type GraphQLObjectType } from 'graphql'
import { markOf } from './planned-field.ts'
import { Unplannable } from './unplannable.ts'

/** A field that ordinary execution reads off the parent. */
export function plainField(type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> {
  const definition = type.getFields()[name]
  if (!definition) throw new Unplannable(`${type.name} has no field ${name}`)
  const { resolve, args } = definition
  const isPlain =
    resolve === undefined || resolve === defaultFieldResolver || markOf(definition)?.kind === 'flag'
  if (!isPlain || args.length > 0) throw new Unplannable(`${type.name}.${name} has a resolver`)
  return definition
}
