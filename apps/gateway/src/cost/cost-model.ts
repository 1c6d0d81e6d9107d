import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  type GraphQLType,
} from 'graphql'
import type { CostConfig, CostRule, ListSizeConfig } from './cost-types.ts'

/** The costs of the fields and types of a schema. */
export interface CostModel {
  /** Number of items of a list if no rule says it. */
  readonly listSize: number
  /** Returns the cost of one value of a field; undefined if it depends on the type of the value. */
  weightOf(parent: GraphQLNamedType, field: AnyField): number | undefined
  weightOfType(type: GraphQLNamedType): number
  ruleOf(parent: GraphQLNamedType, field: AnyField): CostRule
  /** Returns the cost of a field of an input object that is given. */
  weightOfInput(parent: GraphQLInputObjectType, field: GraphQLInputField): number
}

export type AnyField = GraphQLField<unknown, unknown>

export const DEFAULT_LIST_SIZE = 10

/** The rules of the config, over those that stand in the schema as `extensions.cost`, over those of interfaces. */
export function createCostModel({ listSize, fields = {} }: CostConfig): CostModel {
  function own(coordinate: string, { extensions }: Pick<GraphQLNamedType, 'extensions'>): CostRule {
    const said = extensions['cost'] as CostRule | undefined
    const written = Object.hasOwn(fields, coordinate) ? fields[coordinate] : undefined
    return written && said ? merge(written, said) : (written ?? said ?? {})
  }

  const rules = new WeakMap<AnyField, CostRule>()

  function ruleOf(parent: GraphQLNamedType, field: AnyField): CostRule {
    let rule = rules.get(field)
    if (!rule) rules.set(field, (rule = mergedRule(parent, field)))
    return rule
  }

  function mergedRule(parent: GraphQLNamedType, field: AnyField): CostRule {
    let rule = own(`${parent.name}.${field.name}`, field)
    if (!isObjectType(parent) && !isInterfaceType(parent)) return rule
    for (const type of parent.getInterfaces()) {
      const inherited = type.getFields()[field.name]
      if (inherited) rule = merge(rule, own(`${type.name}.${field.name}`, inherited))
    }
    return rule
  }

  function weightOfType(type: GraphQLNamedType): number {
    return own(type.name, type).weight ?? (isCompositeType(type) ? 1 : 0)
  }

  return {
    listSize: listSize ?? DEFAULT_LIST_SIZE,
    ruleOf,
    weightOfType,
    weightOfInput: (parent, field) => own(`${parent.name}.${field.name}`, field).weight ?? 0,
    weightOf(parent, field) {
      const { weight } = ruleOf(parent, field)
      if (weight !== undefined) return weight
      const type = getNamedType(field.type)
      return isAbstractType(type) && own(type.name, type).weight === undefined
        ? undefined
        : weightOfType(type)
    },
  }
}

function merge(over: CostRule, under: CostRule): CostRule {
  return {
    weight: over.weight ?? under.weight,
    arguments: { ...under.arguments, ...over.arguments },
    listSize: over.listSize ?? under.listSize,
  }
}

/** Lists inside one another. */
export function listDepth(type: GraphQLType): number {
  if (isNonNullType(type)) return listDepth(type.ofType)
  return isListType(type) ? 1 + listDepth(type.ofType) : 0
}

export function requiresOne({
  slicingArguments = [],
  requireOneSlicingArgument = true,
}: ListSizeConfig): boolean {
  return slicingArguments.length > 0 && requireOneSlicingArgument
}
