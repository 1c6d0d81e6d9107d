import {
  getOperationAST,
  Kind,
  print,
  stripIgnoredCharacters,
  visit,
  type DocumentNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionNode,
} from 'graphql'

export interface NormalizedDocument {
  /** The selected operation and the fragments it uses, without the delivery directives. */
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  /** One text for all spellings of the same operation. */
  readonly text: string
  /** Variables the operation declares and uses, sorted. */
  readonly variableNames: readonly string[]
  /** Whether the client asked for incremental delivery. */
  readonly incremental: boolean
  /** Whether the client asked for a live query. */
  readonly live: boolean
  /** Whether the client asks about the schema. */
  readonly introspection: boolean
}

/** They change how a result is delivered, not what it is. */
const deliveryDirectives: ReadonlySet<string> = new Set(['defer', 'stream', 'live'])

/** Returns undefined when the operation cannot be determined. */
export function normalizeDocument(
  document: DocumentNode,
  operationName: string | null | undefined,
): NormalizedDocument | undefined {
  const selected = getOperationAST(document, operationName)
  if (!selected) return undefined
  let incremental = false
  let live = false
  let introspection = false
  const bare = visit(
    { kind: Kind.DOCUMENT, definitions: [selected, ...usedFragments(document, selected)] } as DocumentNode,
    {
      Directive(node) {
        if (!deliveryDirectives.has(node.name.value)) return undefined
        if (node.name.value === 'live') live = true
        else incremental = true
        return null
      },
      Field(node) {
        if (node.name.value === '__schema' || node.name.value === '__type') introspection = true
      },
      SelectionSet: {
        leave: (node) => ({ ...node, selections: node.selections.flatMap(unwrapBareFragment) }),
      },
    },
  )
  const used = new Set<string>()
  visit(bare, {
    VariableDefinition: () => false,
    Variable: (node) => void used.add(node.name.value),
  })
  const definitions = bare.definitions.map((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION ? withUsedVariables(definition, used) : definition,
  )
  const operation = definitions[0] as OperationDefinitionNode
  const normalized: DocumentNode = { kind: Kind.DOCUMENT, definitions }
  return {
    document: normalized,
    operation,
    text: stripIgnoredCharacters(print(normalized)),
    variableNames: (operation.variableDefinitions ?? []).map((node) => node.variable.name.value),
    incremental,
    live,
    introspection,
  }
}

/** `... { a b }` is `a b`: what remains of `... @defer { a b }`. */
function unwrapBareFragment(selection: SelectionNode): readonly SelectionNode[] {
  const isBare =
    selection.kind === Kind.INLINE_FRAGMENT && !selection.typeCondition && !selection.directives?.length
  return isBare ? selection.selectionSet.selections : [selection]
}

function withUsedVariables(
  operation: OperationDefinitionNode,
  used: ReadonlySet<string>,
): OperationDefinitionNode {
  const variableDefinitions = (operation.variableDefinitions ?? [])
    .filter((node) => used.has(node.variable.name.value))
    .sort((a, b) => (a.variable.name.value < b.variable.name.value ? -1 : 1))
  return { ...operation, variableDefinitions }
}

function usedFragments(document: DocumentNode, operation: OperationDefinitionNode): FragmentDefinitionNode[] {
  const byName = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) byName.set(definition.name.value, definition)
  }
  const used = new Map<string, FragmentDefinitionNode>()
  const queue: (OperationDefinitionNode | FragmentDefinitionNode)[] = [operation]
  for (let node = queue.pop(); node; node = queue.pop()) {
    visit(node, {
      FragmentSpread(spread) {
        const fragment = byName.get(spread.name.value)
        if (!fragment || used.has(spread.name.value)) return
        used.set(spread.name.value, fragment)
        queue.push(fragment)
      },
    })
  }
  return [...used.values()].sort((a, b) => (a.name.value < b.name.value ? -1 : 1))
}
