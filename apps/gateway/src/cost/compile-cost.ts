import {
  getNamedType,
  getOperationAST,
  isCompositeType,
  type DocumentNode,
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import { keyed } from '@vinyasa/base'
import { collectFields, fragmentsOf, isIncluded, possibleObjects, withDefaults } from '@vinyasa/documents'
import { largest, once, product, sum, type Amount, type Variables } from './amount.ts'
import type { ListSizeConfig } from './cost-types.ts'
import { listDepth, type AnyField, type CostModel } from './cost-model.ts'
import { createInputCost } from './input-cost.ts'
import { sizeFor } from './list-size.ts'

/** The cost of a mutation, for itself. */
const MUTATION = 10

/** Selections looked at for one document. Types behind interfaces multiply them; more than this is more than any limit. */
const MAX_STEPS = 100_000

/** Sizes that a field has of its parent's `sizedFields`. */
type Sized = ReadonlyMap<string, Amount>

const UNSIZED: Sized = new Map()

/**
 * Returns a function for what an operation may cost at most, if no list is longer than assumed. Fields of one
 * response name count once, and an interface or union counts as its dearest type. Skipped fields count,
 * unless a literal skips them. Introspection is free.
 */
export function compileCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  model: CostModel,
): (variables: Variables) => number {
  const operation = getOperationAST(document, operationName)
  const root = operation && schema.getRootType(operation.operation)
  if (!operation || !root) return () => 0
  const fragments = fragmentsOf(document)
  const sizes = new Map<string, Amount>()
  const known = new Map<string, Amount>()
  const ofInput = createInputCost(model)
  let steps = 0
  let ids = 0
  const idOf = keyed((_key: object) => ids++)

  function sizeOf(parent: GraphQLObjectType, field: AnyField, node: FieldNode, rule: ListSizeConfig): Amount {
    const key = `${parent.name} ${idOf(node)}`
    const size = sizes.get(key) ?? sizeFor(`${parent.name}.${field.name}`, field, node, rule, model.listSize)
    sizes.set(key, size)
    return size
  }

  /** Returns the cost of what is selected of one object, without the object itself. */
  function ofObject(type: GraphQLObjectType, sets: readonly SelectionSetNode[], sized: Sized): Amount {
    const given = [...sized].map(
      ([name, size]) => `${name}=${typeof size === 'number' ? size : `#${idOf(size)}`}`,
    )
    const key = `${type.name} ${sets.map(idOf).join()} ${given.join()}`
    const before = known.get(key)
    if (before !== undefined) return before
    if (steps > MAX_STEPS) return 0
    const fields = collectFields({ fragments, schema, type, includes }, sets)
    const amount = once(sum([...fields.values()].map((nodes) => ofField(type, nodes, sized))))
    known.set(key, amount)
    return amount
  }

  function includes(selection: SelectionNode): boolean {
    return ++steps <= MAX_STEPS && isIncluded(selection)
  }

  function ofField(parent: GraphQLObjectType, nodes: readonly FieldNode[], sized: Sized): Amount {
    const [node] = nodes
    const field = node && parent.getFields()[node.name.value]
    // `__typename`, `__schema` and `__type`.
    if (!field) return 0
    const { listSize, arguments: weights = {} } = model.ruleOf(parent, field)
    const size = listSize && sizeOf(parent, field, node, listSize)
    const isOfChildren = listSize?.sizedFields !== undefined && listSize.sizedFields.length > 0
    const children: Sized =
      size !== undefined && isOfChildren ? new Map(listSize.sizedFields.map((name) => [name, size])) : UNSIZED
    const depth = listDepth(field.type)
    const own = sized.get(field.name) ?? (isOfChildren ? undefined : size) ?? model.listSize
    const times = depth === 0 ? 1 : product([own, model.listSize ** (depth - 1)])
    const added = node.arguments?.map(({ name }) => weights[name.value] ?? 0) ?? []
    return sum([
      ...added,
      ofInput(field, node),
      product([times, ofValue(parent, field, nodes, children)]),
      ...checks(size),
    ])
  }

  /** A size that may refuse has to be asked for, whatever it is multiplied by. */
  function checks(size: Amount | undefined): readonly Amount[] {
    return typeof size === 'function' ? [(run) => size(run) * 0 || 0] : []
  }

  /** Returns the cost of one value of a field, with what is selected of it. */
  function ofValue(
    parent: GraphQLNamedType,
    field: AnyField,
    nodes: readonly FieldNode[],
    sized: Sized,
  ): Amount {
    const weight = model.weightOf(parent, field)
    const type = getNamedType(field.type)
    if (!isCompositeType(type)) return weight ?? 0
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
    const types = possibleObjects(schema, type)
    return largest(types.map((one) => sum([weight ?? model.weightOfType(one), ofObject(one, sets, sized)])))
  }

  const base = operation.operation === 'mutation' ? MUTATION : 0
  const total = sum([base, ofObject(root, [operation.selectionSet], UNSIZED)])
  if (steps > MAX_STEPS) return always(Infinity)
  if (typeof total === 'number') return always(total)
  return (given) => total({ variables: withDefaults(operation, given), known: new Map() })
}

/** It stands by itself, since functions of one scope keep all that any of them needs. */
function always(cost: number): () => number {
  return () => cost
}
