import { fieldOf, memberOf, NotPlannable } from '@vinyasa/source-kit'
import type { GraphQLField, GraphQLObjectType } from 'graphql'
import { isFlag } from '../mapping/flags.ts'

/** A field that ordinary execution reads off the parent. */
export function plainField(type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> {
  const definition = fieldOf(type, name)
  if (!definition) throw new NotPlannable(`the type ${type.name} has no field ${name}`)
  if ((memberOf(definition) === undefined && !isFlag(definition)) || definition.args.length > 0)
    throw new NotPlannable(`${type.name}.${name} has a resolver or arguments`)
  return definition
}
