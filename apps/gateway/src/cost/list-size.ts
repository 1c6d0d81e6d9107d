import {
  getNamedType,
  isInputObjectType,
  Kind,
  type FieldNode,
  type GraphQLInputField,
  type GraphQLInputType,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql'
import type { ListSizeConfig } from './cost-types.ts'
import type { Amount, Variables } from './amount.ts'
import { requiresOne, type AnyField } from './cost-model.ts'
import { notOneSlicingArgument, unboundedSlicingArgument } from './errors.ts'

/** A value that is known with the variables; undefined: nothing is given. */
type Given = (variables: Variables) => unknown

/**
 * How many items a field with `@listSize` gives. Throws where exactly one slicing argument is wanted, and that is not
 * given. Null or a number below 1 says nothing of the size: to many backends it means all there is. It is the size that
 * the rule assumes, and where it assumes none the operation is refused.
 */
export function sizeFor(
  coordinate: string,
  definition: AnyField,
  node: FieldNode,
  rule: ListSizeConfig,
  fallback: number,
): Amount {
  // A directive may say null.
  const slicingArguments = rule.slicingArguments ?? []
  const assumedSize = rule.assumedSize ?? fallback
  const found = slicingArguments.map((path) => ({ path, given: givenAt(path.split('.'), definition, node) }))
  const size = (variables: Variables): number => {
    const said = found
      .map(({ path, given: read }) => ({ path, value: read(variables) }))
      .filter(({ value }) => value !== undefined)
    const given = said.filter(({ value }) => value !== null)
    if (requiresOne(rule) && given.length !== 1)
      throw notOneSlicingArgument(
        coordinate,
        slicingArguments,
        given.map(({ path }) => path),
      )
    const unbounded = said.find(({ value }) => isUnbounded(value))
    if (unbounded && typeof rule.assumedSize !== 'number')
      throw unboundedSlicingArgument(coordinate, unbounded.path, unbounded.value)
    const sizes = given.map(({ value }) => itemsOf(value)).filter((items) => items >= 1)
    return sizes.length < Math.max(1, given.length) ? Math.max(assumedSize, ...sizes) : Math.max(...sizes)
  }
  const usesVariables = node.arguments?.some(({ value }) => hasVariable(value)) === true
  // An amount that may throw does so when the operation is asked, not when its document is read.
  const mayThrow = requiresOne(rule) || typeof rule.assumedSize !== 'number'
  return usesVariables || mayThrow ? ({ variables }) => size(variables) : size({})
}

/** An empty list is for no items. */
function isUnbounded(value: unknown): boolean {
  return !Array.isArray(value) && !(itemsOf(value) >= 1)
}

function itemsOf(value: unknown): number {
  if (Array.isArray(value)) return value.length
  return typeof value === 'number' || typeof value === 'string' ? Math.ceil(Number(value)) : NaN
}

/**
 * Returns a function that reads what is given at a path of input fields below an argument, or the defaults
 * that stand for it.
 */
function givenAt([name = '', ...path]: readonly string[], definition: AnyField, node: FieldNode): Given {
  const input = definition.args.find((argument) => argument.name === name)
  if (!input) return () => undefined
  const argument = node.arguments?.find((one) => one.name.value === name)
  const sent: Given = (variables) => argument && valueFromASTUntyped(argument.value, variables)
  const members: GraphQLInputField[] = []
  let type: GraphQLInputType = input.type
  for (const member of path) {
    const object: unknown = getNamedType(type)
    const field = isInputObjectType(object) ? object.getFields()[member] : undefined
    if (!field) return () => undefined
    members.push(field)
    type = field.type
  }
  return (variables) =>
    members.reduce<unknown>(
      (object, field) => {
        if (object === null || typeof object !== 'object') return undefined
        return withDefault(Reflect.get(object, field.name), field)
      },
      withDefault(sent(variables), input),
    )
}

function withDefault(value: unknown, { defaultValue }: { readonly defaultValue?: unknown }): unknown {
  return value === undefined ? defaultValue : value
}

export function hasVariable(node: ValueNode): boolean {
  if (node.kind === Kind.VARIABLE) return true
  if (node.kind === Kind.LIST) return node.values.some(hasVariable)
  return node.kind === Kind.OBJECT && node.fields.some(({ value }) => hasVariable(value))
}
