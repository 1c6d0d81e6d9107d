import {
  isNonNullType,
  Kind,
  valueFromAST,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
} from 'graphql'
import type { Args } from '../template.ts'
import type { Variables } from './coerce-variables.ts'
import { Unplannable } from './unplannable.ts'

/** The arguments of a field; undefined where one is wrong, which ordinary execution words. */
export type ArgumentsOf = (variables: Variables) => Args | undefined

/** @throws Unplannable */
export function compileArguments(
  { args, name: field }: GraphQLField<unknown, unknown>,
  node: FieldNode,
): ArgumentsOf {
  for (const arg of args) if (hasDefault(arg)) throw new Unplannable(`${field}(${arg.name}:) has a default`)
  const given = args.map((arg) => ({
    arg,
    value: node.arguments?.find(({ name }) => name.value === arg.name)?.value,
  }))
  return (variables) => {
    const values: Record<string, unknown> = {}
    for (const { arg, value } of given) {
      const isAbsent =
        value === undefined || (value.kind === Kind.VARIABLE && !Object.hasOwn(variables, value.name.value))
      if (isAbsent) {
        if (isNonNullType(arg.type)) return undefined
        continue
      }
      const coerced = valueFromAST(value, arg.type, { ...variables })
      if (coerced === undefined) return undefined
      values[arg.name] = coerced
    }
    return values
  }
}

/** `default` is graphql 17's. */
function hasDefault(arg: GraphQLArgument & { readonly default?: unknown }): boolean {
  return arg.defaultValue !== undefined || arg.default !== undefined
}
