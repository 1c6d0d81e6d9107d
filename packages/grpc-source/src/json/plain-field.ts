import { NotPlannable } from '@vinyasa/source-kit'
import { defaultFieldResolver, type GraphQLField, type GraphQLObjectType } from 'graphql'
import { isFlag } from '../mapping/flags.ts'

/** A field that ordinary execution reads off the parent. */
export function plainField(type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> {
  const definition = type.getFields()[name]
  if (!definition) throw new NotPlannable(`${type.name} has no field ${name}`)
  const { resolve, args } = definition
  const isPlain = resolve === undefined || resolve === defaultFieldResolver || isFlag(definition)
  if (!isPlain || args.length > 0) throw new NotPlannable(`${type.name}.${name} has a resolver`)
  return definition
}
