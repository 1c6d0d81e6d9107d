import {
  getOperationAST,
  Kind,
  print,
  stripIgnoredCharacters,
  visit,
  type DocumentNode,
  type OperationDefinitionNode,
  type SelectionNode,
} from 'graphql'
import { fragmentsOf, type Fragments, usedFragments, usedVariables } from '@vinyasa/core/documents'

export interface NormalizedDocument {
  /** The selected operation and its fragments, without the delivery directives. */
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  /** A string that is equal for all spellings of the operation. */
  readonly text: string
  /** The declared and used variables of the operation, sorted. */
  readonly variableNames: readonly string[]
  /** Whether the client requested incremental delivery. */
  readonly incremental: boolean
  /** Whether the client requested a live query. */
  readonly live: boolean
  /** Whether the operation contains introspection. */
  readonly introspection: boolean
}

/** These directives change the delivery of a result, but not the result. */
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
  const fragments = usedFragments(selected, fragmentsOf(document)).sort((a, b) =>
    a.name.value < b.name.value ? -1 : 1,
  )
  const bare = visit({ kind: Kind.DOCUMENT, definitions: [selected, ...fragments] } as DocumentNode, {
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
  })
  const [bareOperation, ...others] = bare.definitions
  const operation = withUsedVariables(bareOperation as OperationDefinitionNode, fragmentsOf(bare))
  const normalized: DocumentNode = { kind: Kind.DOCUMENT, definitions: [operation, ...others] }
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

/** `... { a b }` equals `a b`. It remains after `@defer` is removed from `... @defer { a b }`. */
function unwrapBareFragment(selection: SelectionNode): readonly SelectionNode[] {
  const isBare =
    selection.kind === Kind.INLINE_FRAGMENT && !selection.typeCondition && !selection.directives?.length
  return isBare ? selection.selectionSet.selections : [selection]
}

function withUsedVariables(
  operation: OperationDefinitionNode,
  fragments: Fragments,
): OperationDefinitionNode {
  const used = usedVariables(operation, fragments)
  const variableDefinitions = (operation.variableDefinitions ?? [])
    .filter((node) => used.has(node.variable.name.value))
    .sort((a, b) => (a.variable.name.value < b.variable.name.value ? -1 : 1))
  return { ...operation, variableDefinitions }
}
