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
  isInputObjectType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  valueFromASTUntyped,
  Kind,
  type GraphQLInputField,
  type ValueNode,
} from 'graphql'
import { keyed } from '@vinyasa/core'
import {
  collectFields,
  fragmentsOf,
  isIncluded,
  possibleObjects,
  withDefaults,
} from '@vinyasa/core/documents'
import { largest, once, product, sum, type Amount, type Variables } from './amount.ts'
import type { ListSizeConfig } from './cost-types.ts'
import { listDepth, type AnyField, type CostModel, requiresOne } from './cost-model.ts'
import { notOneSlicingArgument, unboundedSlicingArgument } from './errors.ts'

/** A value that is known with the variables; undefined: nothing is given. */
type Given = (variables: Variables) => unknown

/**
 * How many items a field with `@listSize` gives. Throws where exactly one slicing argument is wanted, and that is not
 * given. Null or a number below 1 says nothing of the size: to many backends it means all there is. It is the size that
 * the rule assumes, and where it assumes none the operation is refused.
 */
function sizeFor(
  coordinate: string,
  definition: AnyField,
  node: FieldNode,
  rule: ListSizeConfig,
  fallback: number,
): Amount {
  // A directive may say null.
  const slicingArguments = rule.slicingArguments ?? []
  const assumedSize = rule.assumedSize ?? fallback
  const found = slicingArguments.map((path) => ({ path, given: givenAt(path.split('.'), definition, node) }))
  const size = (variables: Variables): number => {
    const said = found
      .map(({ path, given: read }) => ({ path, value: read(variables) }))
      .filter(({ value }) => value !== undefined)
    const given = said.filter(({ value }) => value !== null)
    if (requiresOne(rule) && given.length !== 1)
      throw notOneSlicingArgument(
        coordinate,
        slicingArguments,
        given.map(({ path }) => path),
      )
    const unbounded = said.find(({ value }) => isUnbounded(value))
    if (unbounded && typeof rule.assumedSize !== 'number')
      throw unboundedSlicingArgument(coordinate, unbounded.path, unbounded.value)
    const sizes = given.map(({ value }) => itemsOf(value)).filter((items) => items >= 1)
    return sizes.length < Math.max(1, given.length) ? Math.max(assumedSize, ...sizes) : Math.max(...sizes)
  }
  const usesVariables = node.arguments?.some(({ value }) => hasVariable(value)) === true
  // An amount that may throw does so when the operation is asked, not when its document is read.
  const mayThrow = requiresOne(rule) || typeof rule.assumedSize !== 'number'
  return usesVariables || mayThrow ? ({ variables }) => size(variables) : size({})
}

/** An empty list is for no items. */
function isUnbounded(value: unknown): boolean {
  return !Array.isArray(value) && !(itemsOf(value) >= 1)
}

function itemsOf(value: unknown): number {
  if (Array.isArray(value)) return value.length
  return typeof value === 'number' || typeof value === 'string' ? Math.ceil(Number(value)) : NaN
}

/**
 * Returns a function that reads what is given at a path of input fields below an argument, or the defaults
 * that stand for it.
 */
function givenAt([name = '', ...path]: readonly string[], definition: AnyField, node: FieldNode): Given {
  const input = definition.args.find((argument) => argument.name === name)
  if (!input) return () => undefined
  const argument = node.arguments?.find((one) => one.name.value === name)
  const sent: Given = (variables) => argument && valueFromASTUntyped(argument.value, variables)
  const members: GraphQLInputField[] = []
  let type: GraphQLInputType = input.type
  for (const member of path) {
    const object: unknown = getNamedType(type)
    const field = isInputObjectType(object) ? object.getFields()[member] : undefined
    if (!field) return () => undefined
    members.push(field)
    type = field.type
  }
  return (variables) =>
    members.reduce<unknown>(
      (object, field) => {
        if (object === null || typeof object !== 'object') return undefined
        return withDefault(Reflect.get(object, field.name), field)
      },
      withDefault(sent(variables), input),
    )
}

function withDefault(value: unknown, { defaultValue }: { readonly defaultValue?: unknown }): unknown {
  return value === undefined ? defaultValue : value
}

function hasVariable(node: ValueNode): boolean {
  if (node.kind === Kind.VARIABLE) return true
  if (node.kind === Kind.LIST) return node.values.some(hasVariable)
  return node.kind === Kind.OBJECT && node.fields.some(({ value }) => hasVariable(value))
}

/**
 * Creates the function that adds up the costs of the fields of input objects in the arguments of a field,
 * each time that they are given.
 */
function createInputCost(
  model: Pick<CostModel, 'weightOfInput'>,
): (definition: AnyField, node: FieldNode) => Amount {
  const weighed = new Map<GraphQLInputObjectType, boolean>()

  /** Whether anything below may cost: most inputs cost nothing and are not looked at. */
  function isWeighed(type: GraphQLInputType): boolean {
    const object: unknown = getNamedType(type)
    if (!isInputObjectType(object)) return false
    const before = weighed.get(object)
    if (before !== undefined) return before
    const reached = new Set([object])
    for (const one of reached) {
      for (const field of Object.values(one.getFields())) {
        const below: unknown = getNamedType(field.type)
        if (isInputObjectType(below)) reached.add(below)
      }
    }
    const found = [...reached].some((one) =>
      Object.values(one.getFields()).some((field) => model.weightOfInput(one, field) > 0),
    )
    weighed.set(object, found)
    return found
  }

  function ofValue(type: GraphQLInputType, value: unknown): number {
    if (!isWeighed(type) || value === null || typeof value !== 'object') return 0
    if (Array.isArray(value)) return value.reduce((total: number, item) => total + ofValue(type, item), 0)
    const object = getNamedType(type) as GraphQLInputObjectType
    let total = 0
    for (const field of Object.values(object.getFields())) {
      const given: unknown = Object.hasOwn(value, field.name) ? Reflect.get(value, field.name) : undefined
      if (given !== undefined) total += model.weightOfInput(object, field) + ofValue(field.type, given)
    }
    return total
  }

  return (definition, node) =>
    sum(
      (node.arguments ?? []).map(({ name, value }): Amount => {
        const argument = definition.args.find((one) => one.name === name.value)
        if (!argument || !isWeighed(argument.type)) return 0
        const cost = (variables?: Variables): number =>
          ofValue(argument.type, valueFromASTUntyped(value, variables))
        return hasVariable(value) ? ({ variables }) => cost(variables) : cost()
      }),
    )
}

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
