import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql'

export type Variables = Readonly<Record<string, unknown>>

/** The nodes that select one response key, and the selection sets below them (none for a leaf). */
export interface FieldGroup {
  readonly key: string
  readonly nodes: readonly [FieldNode, ...FieldNode[]]
  readonly selectionSets: readonly SelectionSetNode[]
}

/** One `@defer` fragment found in a selection set. The directive's node is the identity of the usage. */
export interface DeferredFragment {
  readonly usage: DirectiveNode
  readonly label: string | undefined
  readonly selectionSets: readonly SelectionSetNode[]
}

/** What selection sets select on one type: what is due now, and the fragments that may follow. */
export interface Selected {
  readonly groups: readonly FieldGroup[]
  readonly deferred: readonly DeferredFragment[]
  /** Keys that more than one of them selects, with the nodes of all: what is due now, and each fragment. */
  readonly sharedKeys: ReadonlyMap<string, FieldGroup['nodes']>
}

/** Reads selections of one operation with its variables. Memoized, since list items ask the same again and again. */
export interface FieldCollector {
  /** `type` undefined: the runtime type is not known, and every type condition may match. */
  collect(selectionSets: readonly SelectionSetNode[], type: GraphQLObjectType | undefined): Selected
  /** The same with the fragments at this level in place, not deferred. */
  collectInlined(selectionSets: readonly SelectionSetNode[], type: GraphQLObjectType | undefined): Selected
  /** Whether there is a `@defer`, in force or not, at this level or anywhere below. */
  mayDefer(selectionSets: readonly SelectionSetNode[]): boolean
}

export function getOperation(
  document: DocumentNode,
  operationName: string | null | undefined,
): OperationDefinitionNode | undefined {
  const operations = document.definitions.filter(
    (definition): definition is OperationDefinitionNode => definition.kind === Kind.OPERATION_DEFINITION,
  )
  if (operationName == null) return operations.length === 1 ? operations[0] : undefined
  return operations.find(({ name }) => name?.value === operationName)
}

export function getFragments(document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  }
  return fragments
}

/** The variables as directives see them: what the request gave, with the operation's defaults. */
export function withDefaults(
  operation: OperationDefinitionNode,
  given: Variables | null | undefined,
): Variables {
  const variables: Record<string, unknown> = { ...given }
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    const name = variable.name.value
    if (variables[name] === undefined && defaultValue) variables[name] = valueFromASTUntyped(defaultValue)
  }
  return variables
}

/** The value of a directive's argument, when it is a literal or a variable. */
function argumentOf(directive: DirectiveNode, name: string, variables: Variables): unknown {
  const value = directive.arguments?.find((argument) => argument.name.value === name)?.value
  return value && valueFromASTUntyped(value, variables)
}

/** Whether `@skip` and `@include` leave the node in. */
export function isIncluded(node: SelectionNode, variables: Variables): boolean {
  for (const directive of node.directives ?? []) {
    const { value } = directive.name
    if (value === 'skip' && argumentOf(directive, 'if', variables) === true) return false
    if (value === 'include' && argumentOf(directive, 'if', variables) === false) return false
  }
  return true
}

/** The node's directive of that name when it is in force: `if` absent, or not false. */
export function activeDirective(
  node: SelectionNode,
  name: 'defer' | 'stream',
  variables: Variables,
): DirectiveNode | undefined {
  const directive = node.directives?.find((candidate) => candidate.name.value === name)
  return directive && argumentOf(directive, 'if', variables) !== false ? directive : undefined
}

export function labelOf(directive: DirectiveNode): string | undefined {
  const label = argumentOf(directive, 'label', {})
  return typeof label === 'string' ? label : undefined
}

export function isIncremental({ name }: DirectiveNode): boolean {
  return name.value === 'defer' || name.value === 'stream'
}

/**
 * Tells whether `@defer` or `@stream` stands at this level or anywhere below. Remembers what it has looked at, so a
 * document whose fragments spread each other many times costs no more than its length.
 */
export function createDeferFinder(
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): (node: SelectionSetNode) => boolean {
  const known = new Map<SelectionSetNode, boolean>()

  function defersBelow(node: SelectionSetNode): boolean {
    const found = known.get(node)
    if (found !== undefined) return found
    // For a fragment that spreads itself.
    known.set(node, false)
    const defers = node.selections.some((selection) => {
      if (selection.directives?.some(isIncremental)) return true
      const below =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? fragments.get(selection.name.value)?.selectionSet
          : selection.selectionSet
      return below !== undefined && defersBelow(below)
    })
    known.set(node, defers)
    return defers
  }

  return defersBelow
}

export function createFieldCollector(input: {
  readonly schema: GraphQLSchema | undefined
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly variables: Variables
}): FieldCollector {
  const { schema, fragments, variables } = input
  const deferring = new WeakMap<object, Map<GraphQLObjectType | undefined, Selected>>()
  const inlining = new WeakMap<object, Map<GraphQLObjectType | undefined, Selected>>()

  function matches(condition: string | undefined, type: GraphQLObjectType | undefined): boolean {
    if (condition === undefined || type === undefined || condition === type.name) return true
    const conditionType = schema?.getType(condition)
    return conditionType != null && isAbstractType(conditionType) && !!schema?.isSubType(conditionType, type)
  }

  interface Found {
    readonly fields: Map<string, [FieldNode, ...FieldNode[]]>
    readonly deferred: DeferredFragment[]
  }

  function gather(
    selectionSet: SelectionSetNode,
    type: GraphQLObjectType | undefined,
    inline: boolean,
    found: Found,
    spread: Set<string>,
    around: readonly DirectiveNode[],
  ): void {
    for (const selection of selectionSet.selections) {
      if (selection.directives?.length && !isIncluded(selection, variables)) continue
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value
        const nodes = found.fields.get(key)
        if (nodes) nodes.push(selection)
        else found.fields.set(key, [selection])
        continue
      }
      const usage = selection.directives?.length ? activeDirective(selection, 'defer', variables) : undefined
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD
      const fragment = isSpread ? fragments.get(selection.name.value) : selection
      if (!fragment || !matches(fragment.typeCondition?.name.value, type)) continue
      if (usage && !inline) {
        const selectionSets = [fragment.selectionSet]
        // A fragment that spreads itself is for validation to refuse.
        if (around.includes(usage)) continue
        const own = gatherAll(selectionSets, type, false, [...around, usage])
        // Nothing is delivered with a fragment that holds only other fragments: those stand for it.
        if (own.fields.size === 0) found.deferred.push(...own.deferred)
        else found.deferred.push({ usage, label: labelOf(usage), selectionSets })
        continue
      }
      if (isSpread) {
        if (spread.has(selection.name.value)) continue
        spread.add(selection.name.value)
      }
      gather(fragment.selectionSet, type, inline, found, spread, around)
    }
  }

  function gatherAll(
    selectionSets: readonly SelectionSetNode[],
    type: GraphQLObjectType | undefined,
    inline: boolean,
    around: readonly DirectiveNode[] = [],
  ): Found {
    const found: Found = { fields: new Map(), deferred: [] }
    const spread = new Set<string>()
    for (const selectionSet of selectionSets) gather(selectionSet, type, inline, found, spread, around)
    return found
  }

  function select(
    selectionSets: readonly SelectionSetNode[],
    type: GraphQLObjectType | undefined,
    inline: boolean,
  ): Selected {
    const { fields, deferred } = gatherAll(selectionSets, type, inline)
    const seen = new Map<string, FieldGroup['nodes']>(fields)
    const sharedKeys = new Map<string, FieldGroup['nodes']>()
    for (const fragment of deferred) {
      for (const [key, nodes] of gatherAll(fragment.selectionSets, type, true).fields) {
        const before = seen.get(key)
        const all: FieldGroup['nodes'] = before ? [...before, ...nodes] : nodes
        if (before) sharedKeys.set(key, all)
        seen.set(key, all)
      }
    }
    const groups = [...fields].map(([key, nodes]) => ({
      key,
      nodes,
      selectionSets: nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
    }))
    return { groups, deferred, sharedKeys }
  }

  function memoized(
    memo: WeakMap<object, Map<GraphQLObjectType | undefined, Selected>>,
    selectionSets: readonly SelectionSetNode[],
    type: GraphQLObjectType | undefined,
    inline: boolean,
  ): Selected {
    let ofTypes = memo.get(selectionSets)
    if (!ofTypes) memo.set(selectionSets, (ofTypes = new Map()))
    let selected = ofTypes.get(type)
    if (!selected) ofTypes.set(type, (selected = select(selectionSets, type, inline)))
    return selected
  }

  const defersBelow = createDeferFinder(fragments)

  return {
    mayDefer: (selectionSets) => selectionSets.some(defersBelow),
    collect: (selectionSets, type) => memoized(deferring, selectionSets, type, false),
    collectInlined: (selectionSets, type) => memoized(inlining, selectionSets, type, true),
  }
}
