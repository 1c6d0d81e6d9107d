import type {
  DirectiveNode,
  FieldNode,
  GraphQLObjectType,
  GraphQLSchema,
  SelectionNode,
  SelectionSetNode,
} from 'graphql'
import {
  collectFields,
  directiveArgument,
  type FieldWalk,
  foldSelections,
  type Fragments,
  isIncluded,
  type Variables,
} from '@vinyasa/documents'

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

/** The fields that selection sets select on one type: those due now, and the fragments that may follow. */
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

/** The node's directive of that name when it is in force: `if` absent, or not false. */
export function activeDirective(
  node: SelectionNode,
  name: 'defer' | 'stream',
  variables: Variables,
): DirectiveNode | undefined {
  const directive = node.directives?.find((candidate) => candidate.name.value === name)
  return directive && directiveArgument(directive, 'if', variables) !== false ? directive : undefined
}

export function labelOf(directive: DirectiveNode): string | undefined {
  const label = directiveArgument(directive, 'label')
  return typeof label === 'string' ? label : undefined
}

export function isIncremental({ name }: DirectiveNode): boolean {
  return name.value === 'defer' || name.value === 'stream'
}

/** Tells whether `@defer` or `@stream` stands at this level or anywhere below. */
export function createDeferFinder(fragments: Fragments): (node: SelectionSetNode) => boolean {
  return foldSelections<boolean>(fragments, false, ({ selections }, below) =>
    selections.some((selection) => selection.directives?.some(isIncremental) || below(selection)),
  )
}

export function createFieldCollector(input: {
  readonly schema: GraphQLSchema | undefined
  readonly fragments: Fragments
  readonly variables: Variables
}): FieldCollector {
  const { schema, fragments, variables } = input
  const includes = (selection: SelectionNode): boolean =>
    !selection.directives?.length || isIncluded(selection, variables)
  const deferring = new WeakMap<object, Map<GraphQLObjectType | undefined, Selected>>()
  const inlining = new WeakMap<object, Map<GraphQLObjectType | undefined, Selected>>()

  interface Found {
    readonly fields: ReturnType<typeof collectFields>
    readonly deferred: readonly DeferredFragment[]
  }

  function gather(
    selectionSets: readonly SelectionSetNode[],
    type: GraphQLObjectType | undefined,
    inline: boolean,
    around: readonly DirectiveNode[] = [],
  ): Found {
    const deferred: DeferredFragment[] = []
    /** Whether the fragment is due now. */
    const enters: FieldWalk['enters'] = (use, fragment) => {
      const usage = use.directives?.length ? activeDirective(use, 'defer', variables) : undefined
      if (!usage) return true
      const sets = [fragment.selectionSet]
      // A fragment that spreads itself is for validation to refuse.
      if (around.includes(usage)) return false
      const own = gather(sets, type, false, [...around, usage])
      // Nothing is delivered with a fragment that holds only other fragments: those stand for it.
      if (own.fields.size === 0) deferred.push(...own.deferred)
      else deferred.push({ usage, label: labelOf(usage), selectionSets: sets })
      return false
    }
    const walk = { fragments, schema, type, includes, enters: inline ? undefined : enters }
    return { fields: collectFields(walk, selectionSets), deferred }
  }

  function select(
    selectionSets: readonly SelectionSetNode[],
    type: GraphQLObjectType | undefined,
    inline: boolean,
  ): Selected {
    const { fields, deferred } = gather(selectionSets, type, inline)
    const seen = new Map<string, FieldGroup['nodes']>(fields)
    const sharedKeys = new Map<string, FieldGroup['nodes']>()
    for (const fragment of deferred) {
      for (const [key, nodes] of gather(fragment.selectionSets, type, true).fields) {
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
