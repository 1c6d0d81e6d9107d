import {
  getArgumentValues,
  getNamedType,
  getOperationAST,
  getVariableValues,
  isAbstractType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  valueFromASTUntyped,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type GraphQLType,
  type SelectionSetNode,
} from 'graphql'
import type { CostConfig, CostRule } from '../../src/cost/cost-types.ts'

type Field = GraphQLField<unknown, unknown>

/** What a rule says of the size of a list, for arguments as the executor understands them. */
export function sizeOf({ listSize = {} }: CostRule, args: Record<string, unknown>, fallback: number): number {
  const values = (listSize.slicingArguments ?? [])
    .map((path) => path.split('.').reduce<any>((value, name) => value?.[name], args))
    .filter((value) => value !== undefined && value !== null)
    .map((value) => (Array.isArray(value) ? value.length : value))
  const assumed = listSize.assumedSize ?? fallback
  const useful = values.filter((value) => value >= 1)
  return useful.length === values.length && values.length > 0
    ? Math.max(...useful)
    : Math.max(assumed, ...useful)
}

export function levelsOf(type: GraphQLType): number {
  if (isNonNullType(type)) return levelsOf(type.ofType)
  return isListType(type) ? 1 + levelsOf(type.ofType) : 0
}

/** The rule of a field: the config's, or that of the interface that it comes from. */
export function ruleOf({ fields = {} }: CostConfig, type: GraphQLObjectType, field: Field): CostRule {
  const coordinates = [type, ...type.getInterfaces()].map(({ name }) => `${name}.${field.name}`)
  const rules = coordinates.flatMap((coordinate) => fields[coordinate] ?? [])
  return {
    weight: rules.find(({ weight }) => weight !== undefined)?.weight,
    arguments: Object.assign({}, ...rules.toReversed().map((rule) => rule.arguments)),
    listSize: rules.find(({ listSize }) => listSize !== undefined)?.listSize,
  }
}

/** Of one value of a field that is of a type. */
export function weightOf(
  config: CostConfig,
  rule: CostRule,
  declared: string,
  actual: string | undefined,
): number {
  const ofType = (name: string): number | undefined => config.fields?.[name]?.weight
  return rule.weight ?? ofType(declared) ?? (actual === undefined ? 0 : (ofType(actual) ?? 1))
}

/** The weights of what is given in inputs, by their fields' names: one type has them all. */
function weightOfInputs(
  { fields = {} }: CostConfig,
  node: FieldNode,
  variables: Record<string, unknown>,
): number {
  const given = (node.arguments ?? []).map(({ value }) => valueFromASTUntyped(value, variables))
  return given
    .flatMap((value) =>
      value && typeof value === 'object' && !Array.isArray(value) ? Object.entries(value) : [],
    )
    .filter(([, value]) => value !== undefined)
    .reduce((total, [name]) => total + (fields[`Page.${name}`]?.weight ?? 0), 0)
}

/** What an operation costs: nothing remembered, nothing folded, every type of every object one after another. */
export function referenceCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  sent: Record<string, unknown>,
  config: CostConfig,
): number {
  const operation = getOperationAST(document)!
  const { coerced = {} } = getVariableValues(schema, operation.variableDefinitions ?? [], sent) as any
  const fallback = config.listSize ?? 10
  const defaults = (operation.variableDefinitions ?? []).map(({ variable, defaultValue }) => [
    variable.name.value,
    defaultValue && valueFromASTUntyped(defaultValue),
  ])
  const known = { ...Object.fromEntries(defaults), ...sent }

  function nodesOf(type: GraphQLObjectType, set: SelectionSetNode): FieldNode[] {
    return set.selections
      .filter(({ directives }) => !isSkipped(directives))
      .flatMap((selection) => {
        if (selection.kind === Kind.FIELD) return [selection]
        const fragment: any =
          selection.kind === Kind.INLINE_FRAGMENT
            ? selection
            : document.definitions.find(
                (one) => one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === selection.name.value,
              )
        const condition = schema.getType(fragment.typeCondition?.name.value ?? type.name) as any
        const applies = condition === type || (isAbstractType(condition) && schema.isSubType(condition, type))
        return applies ? nodesOf(type, fragment.selectionSet) : []
      })
  }

  function ofObject(
    type: GraphQLObjectType,
    sets: readonly SelectionSetNode[],
    sizes: Record<string, number>,
  ): number {
    const byName = new Map<string, FieldNode[]>()
    for (const node of sets.flatMap((set) => nodesOf(type, set))) {
      const name = (node.alias ?? node.name).value
      byName.set(name, [...(byName.get(name) ?? []), node])
    }
    let total = 0
    for (const nodes of byName.values()) {
      const field = type.getFields()[nodes[0]!.name.value]
      if (!field) continue
      const rule = ruleOf(config, type, field)
      for (const { name } of nodes[0]!.arguments ?? []) total += rule.arguments?.[name.value] ?? 0
      total += weightOfInputs(config, nodes[0]!, known)
      const size = sizeOf(rule, getArgumentValues(field, nodes[0]!, coerced), fallback)
      const sized = rule.listSize?.sizedFields
      const levels = levelsOf(field.type)
      const items =
        levels === 0
          ? 1
          : (sizes[field.name] ?? (sized || !rule.listSize ? fallback : size)) * fallback ** (levels - 1)
      const given = getNamedType(field.type)
      const below = Object.fromEntries((sized ?? []).map((name) => [name, size]))
      const inner = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
      const types = isObjectType(given)
        ? [given]
        : isAbstractType(given)
          ? schema.getPossibleTypes(given)
          : []
      const each = types.map(
        (one) => weightOf(config, rule, given.name, one.name) + ofObject(one, inner, below),
      )
      total += items * (types.length > 0 ? Math.max(...each) : weightOf(config, rule, given.name, undefined))
    }
    return total
  }

  return ofObject(schema.getQueryType()!, [operation.selectionSet], {})
}

/** By a literal; what a variable skips counts. */
function isSkipped(directives: readonly DirectiveNode[] = []): boolean {
  return directives.some(({ name, arguments: [argument] = [] }) => {
    if (argument?.value.kind !== Kind.BOOLEAN) return false
    return (name.value === 'skip') === valueFromASTUntyped(argument.value)
  })
}
