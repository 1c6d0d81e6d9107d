import { Kind, type DocumentNode, type FieldNode } from 'graphql'
import { foldSelections, fragmentsOf } from '@vinyasa/documents'
import { limitExceeded } from './errors.ts'

/** Limits that need the fragments put in place. 0 turns one off. */
export interface OperationLimits {
  /** Fields inside one another, fragments expanded. */
  readonly maxDepth: number
  /** Sum over all fields, fragments expanded: 1 a leaf, 2 an object, times 1.5 for each level of depth. */
  readonly maxCost: number
}

interface Measure {
  readonly depth: number
  readonly cost: number
}

const OBJECT_COST = 2
const LEAF_COST = 1
const DEPTH_FACTOR = 1.5
const NOTHING: Measure = { depth: 0, cost: 0 }

/**
 * Throws `DOCUMENT_LIMIT_EXCEEDED` when an operation is deeper or dearer than allowed. Each fragment is
 * measured once however often it is spread; one that spreads itself counts as nothing (validation refuses it).
 * Introspection fields are not measured: whether they are allowed is decided elsewhere.
 */
export function measureOperation(document: DocumentNode, limits: OperationLimits): void {
  const measure = foldSelections(fragmentsOf(document), NOTHING, ({ selections }, below): Measure => {
    let depth = 0
    let cost = 0
    for (const selection of selections) {
      const inner = below(selection)
      const part = selection.kind === Kind.FIELD ? measureField(selection, inner) : inner
      depth = Math.max(depth, part.depth)
      cost += part.cost
    }
    return { depth, cost }
  })

  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    const { depth, cost } = measure(definition.selectionSet)
    if (limits.maxDepth > 0 && depth > limits.maxDepth)
      throw limitExceeded('levels of depth', limits.maxDepth)
    if (limits.maxCost > 0 && cost > limits.maxCost) throw limitExceeded('points of cost', limits.maxCost)
  }
}

function measureField({ name, selectionSet }: FieldNode, inner: Measure): Measure {
  if (name.value === '__schema' || name.value === '__type') return NOTHING
  if (!selectionSet) return { depth: 1, cost: LEAF_COST }
  return { depth: inner.depth + 1, cost: OBJECT_COST + inner.cost * DEPTH_FACTOR }
}
