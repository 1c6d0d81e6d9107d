import {
  Kind,
  visit,
  type DocumentNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type InlineFragmentNode,
  type OperationDefinitionNode,
} from 'graphql'

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>
export type Fragment = FragmentDefinitionNode | InlineFragmentNode
export type FragmentUse = FragmentSpreadNode | InlineFragmentNode

/** Map that all documents without fragments share, because values derived from documents keep it in memory. */
const NONE: Fragments = new Map()

/** Returns the fragments of a document by name. */
export function fragmentsOf({ definitions }: DocumentNode): Fragments {
  if (definitions.length === 1 && definitions[0]?.kind !== Kind.FRAGMENT_DEFINITION) return NONE
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  }
  return fragments
}

/** Returns the fragment of a spread, or the inline fragment itself. Returns `undefined` if the name is unknown. */
export function fragmentOf(fragments: Fragments, use: FragmentUse): Fragment | undefined {
  return use.kind === Kind.INLINE_FRAGMENT ? use : fragments.get(use.name.value)
}

/** Returns the fragments that an operation uses, directly or in other fragments. */
export function usedFragments(
  operation: OperationDefinitionNode,
  fragments: Fragments,
): FragmentDefinitionNode[] {
  const used = new Set<FragmentDefinitionNode>()
  const FragmentSpread = (spread: FragmentSpreadNode): void => {
    const fragment = fragments.get(spread.name.value)
    if (fragment) used.add(fragment)
  }
  visit(operation, { FragmentSpread })
  // The loop also visits fragments that are added to the set during the iteration.
  for (const fragment of used) visit(fragment, { FragmentSpread })
  return [...used]
}
