import {
  getNamedType,
  isInputObjectType,
  type FieldNode,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  valueFromASTUntyped,
} from 'graphql'
import { sum, type Amount, type Variables } from './amount.ts'
import type { AnyField, CostModel } from './cost-model.ts'
import { hasVariable } from './list-size.ts'

/**
 * Creates the function that adds up the costs of the fields of input objects in the arguments of a field,
 * each time that they are given.
 */
export function createInputCost(
  model: Pick<CostModel, 'weightOfInput'>,
): (definition: AnyField, node: FieldNode) => Amount {
  const weighed = new Map<GraphQLInputObjectType, boolean>()

  /** Whether anything below may cost: most inputs cost nothing and are not looked at. */
  function isWeighed(type: GraphQLInputType): boolean {
    const object: unknown = getNamedType(type)
    if (!isInputObjectType(object)) return false
    const before = weighed.get(object)
    if (before !== undefined) return before
    const reached = new Set([object])
    for (const one of reached) {
      for (const field of Object.values(one.getFields())) {
        const below: unknown = getNamedType(field.type)
        if (isInputObjectType(below)) reached.add(below)
      }
    }
    const found = [...reached].some((one) =>
      Object.values(one.getFields()).some((field) => model.weightOfInput(one, field) > 0),
    )
    weighed.set(object, found)
    return found
  }

  function ofValue(type: GraphQLInputType, value: unknown): number {
    if (!isWeighed(type) || value === null || typeof value !== 'object') return 0
    if (Array.isArray(value)) return value.reduce((total: number, item) => total + ofValue(type, item), 0)
    const object = getNamedType(type) as GraphQLInputObjectType
    let total = 0
    for (const field of Object.values(object.getFields())) {
      const given: unknown = Object.hasOwn(value, field.name) ? Reflect.get(value, field.name) : undefined
      if (given !== undefined) total += model.weightOfInput(object, field) + ofValue(field.type, given)
    }
    return total
  }

  return (definition, node) =>
    sum(
      (node.arguments ?? []).map(({ name, value }): Amount => {
        const argument = definition.args.find((one) => one.name === name.value)
        if (!argument || !isWeighed(argument.type)) return 0
        const cost = (variables?: Variables): number =>
          ofValue(argument.type, valueFromASTUntyped(value, variables))
        return hasVariable(value) ? ({ variables }) => cost(variables) : cost()
      }),
    )
}
