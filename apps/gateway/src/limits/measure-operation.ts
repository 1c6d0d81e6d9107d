import { Kind, type DocumentNode } from 'graphql'
import { foldSelections, fragmentsOf } from '@vinyasa/core/documents'
import { limitExceeded } from './errors.ts'
import type { DocumentLimits } from './scan-tokens.ts'

/**
 * Throws `DOCUMENT_LIMIT_EXCEEDED` when an operation is deeper than allowed. Each fragment is
 * measured once however often it is spread; one that spreads itself counts as nothing (validation refuses it).
 * Introspection fields are not measured: whether they are allowed is decided elsewhere.
 */
export function measureOperation(
  document: DocumentNode,
  { maxDepth }: Pick<DocumentLimits, 'maxDepth'>,
): void {
  if (maxDepth <= 0) return
  const depthOf = foldSelections(fragmentsOf(document), 0, ({ selections }, below): number => {
    let depth = 0
    for (const selection of selections) {
      const inner = below(selection)
      if (selection.kind !== Kind.FIELD) depth = Math.max(depth, inner)
      else if (selection.name.value !== '__schema' && selection.name.value !== '__type')
        depth = Math.max(depth, inner + 1)
    }
    return depth
  })
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION && depthOf(definition.selectionSet) > maxDepth)
      throw limitExceeded('levels of depth', maxDepth)
  }
}
