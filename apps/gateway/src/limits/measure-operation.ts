import { Kind, type DocumentNode, type FragmentDefinitionNode, type SelectionSetNode } from 'graphql'
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
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  }
  const measured = new Map<string, Measure>()

  function measureFragment(name: string): Measure {
    const known = measured.get(name)
    if (known) return known
    measured.set(name, NOTHING)
    const fragment = fragments.get(name)
    const result = fragment ? measureSelections(fragment.selectionSet) : NOTHING
    measured.set(name, result)
    return result
  }

  function measureSelections(set: SelectionSetNode): Measure {
    let depth = 0
    let cost = 0
    for (const selection of set.selections) {
      let part: Measure
      switch (selection.kind) {
        case Kind.FIELD:
          part = measureField(selection)
          break
        case Kind.INLINE_FRAGMENT:
          part = measureSelections(selection.selectionSet)
          break
        case Kind.FRAGMENT_SPREAD:
          part = measureFragment(selection.name.value)
          break
      }
      depth = Math.max(depth, part.depth)
      cost += part.cost
    }
    return { depth, cost }
  }

  function measureField(field: {
    name: { value: string }
    selectionSet?: SelectionSetNode | undefined
  }): Measure {
    if (field.name.value === '__schema' || field.name.value === '__type') return NOTHING
    if (!field.selectionSet) return { depth: 1, cost: LEAF_COST }
    const inner = measureSelections(field.selectionSet)
    return { depth: inner.depth + 1, cost: OBJECT_COST + inner.cost * DEPTH_FACTOR }
  }

  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    const { depth, cost } = measureSelections(definition.selectionSet)
    if (limits.maxDepth > 0 && depth > limits.maxDepth)
      throw limitExceeded('levels of depth', limits.maxDepth)
    if (limits.maxCost > 0 && cost > limits.maxCost) throw limitExceeded('points of cost', limits.maxCost)
  }
}
