import {
  isAbstractType,
  Kind,
  typeFromAST,
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'

/** What a selection means: schema, operation, fragments, and the variables that `@skip` and `@include` name. */
export interface SelectionScope {
  readonly schema: GraphQLSchema
  readonly operation: OperationDefinitionNode
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** `any`: all that may be selected, whatever the variables are. */
  readonly conditions: Readonly<Record<string, boolean>> | 'any'
}

/** The fields below nodes, by response name, in the order of the answer (GraphQL, section 6.3.2). */
export function fieldsBelow(
  scope: SelectionScope,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): Map<string, FieldNode[]> {
  return collectFields(
    scope,
    type,
    nodes.flatMap(({ selectionSet }) => (selectionSet ? [selectionSet] : [])),
  )
}

export function collectFields(
  scope: SelectionScope,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): Map<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>()
  const visited = new Set<string>()
  for (const selectionSet of selectionSets) collect(selectionSet)
  return fields

  function collect({ selections }: SelectionSetNode): void {
    for (const selection of selections) {
      if (!isIncluded(selection, scope.conditions)) continue
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value
        const known = fields.get(key)
        if (known) known.push(selection)
        else fields.set(key, [selection])
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        if (applies(selection.typeCondition)) collect(selection.selectionSet)
      } else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value)
        const fragment = scope.fragments.get(selection.name.value)
        if (fragment && applies(fragment.typeCondition)) collect(fragment.selectionSet)
      }
    }
  }

  function applies(condition: FragmentDefinitionNode['typeCondition'] | undefined): boolean {
    if (!condition) return true
    const wanted = typeFromAST(scope.schema, condition)
    return wanted === type || (isAbstractType(wanted) && scope.schema.isSubType(wanted, type))
  }
}

function isIncluded({ directives = [] }: SelectionNode, conditions: SelectionScope['conditions']): boolean {
  if (conditions === 'any') return true
  return directives.every((directive) => {
    const name = directive.name.value
    if (name !== 'skip' && name !== 'include') return true
    const value = directive.arguments?.find((argument) => argument.name.value === 'if')?.value
    const holds =
      value?.kind === Kind.VARIABLE
        ? conditions[value.name.value] === true
        : value?.kind === Kind.BOOLEAN && value.value
    return name === 'include' ? holds : !holds
  })
}

/** The variable in a `@skip` or `@include`. */
export function conditionVariable({ name, arguments: given }: DirectiveNode): string | undefined {
  if (name.value !== 'skip' && name.value !== 'include') return undefined
  const value = given?.find((argument) => argument.name.value === 'if')?.value
  return value?.kind === Kind.VARIABLE ? value.name.value : undefined
}
