import {
  getNamedType,
  getOperationAST,
  isAbstractType,
  isCompositeType,
  Kind,
  valueFromASTUntyped,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import { largest, once, product, sum, type Amount, type Variables } from './amount.ts'
import type { ListSizeConfig } from './cost-types.ts'
import { listDepth, possibleTypes, type AnyField, type CostModel } from './cost-model.ts'
import { createInputCost } from './input-cost.ts'
import { sizeFor } from './list-size.ts'

/** Selections looked at for one document. Types behind interfaces multiply them; more than this is more than any limit. */
const MAX_STEPS = 100_000

/** Sizes that fields have from their parent's `sizedFields`. */
type Sized = ReadonlyMap<string, Amount>

const UNSIZED: Sized = new Map()

/**
 * Computes what an operation may cost at most, if no list is longer than assumed: fields of one response name once, of an
 * interface or union the dearest type. Skipped fields count, but where a literal skips them. Introspection is free.
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
  const compiler = new CostCompiler(schema, document, model)
  const base = operation.operation === 'mutation' ? model.mutation : 0
  const total = sum([base, compiler.ofObject(root, [operation.selectionSet], UNSIZED)])
  if (compiler.isTooLong) return () => Infinity
  if (typeof total === 'number') return () => total
  const defaults = (operation.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
    defaultValue ? [[variable.name.value, valueFromASTUntyped(defaultValue)] as const] : [],
  )
  return (given) => {
    const variables: Record<string, unknown> = { ...given }
    for (const [name, value] of defaults) if (variables[name] === undefined) variables[name] = value
    return total({ variables, known: new Map() })
  }
}

class CostCompiler {
  readonly #schema: GraphQLSchema
  readonly #model: CostModel
  readonly #fragments = new Map<string, FragmentDefinitionNode>()
  readonly #ids = new Map<object, number>()
  readonly #sizes = new Map<string, Amount>()
  readonly #known = new Map<string, Amount>()
  readonly #ofInput: ReturnType<typeof createInputCost>
  #steps = 0

  constructor(schema: GraphQLSchema, { definitions }: DocumentNode, model: CostModel) {
    this.#schema = schema
    this.#model = model
    this.#ofInput = createInputCost(model)
    for (const one of definitions)
      if (one.kind === Kind.FRAGMENT_DEFINITION) this.#fragments.set(one.name.value, one)
  }

  get isTooLong(): boolean {
    return this.#steps > MAX_STEPS
  }

  /** Adds up what is selected of one object, without the object itself. */
  ofObject(type: GraphQLObjectType, sets: readonly SelectionSetNode[], sized: Sized): Amount {
    const given = [...sized].map(
      ([name, size]) => `${name}=${typeof size === 'number' ? size : `#${this.#idOf(size)}`}`,
    )
    const key = `${type.name} ${sets.map((set) => this.#idOf(set)).join()} ${given.join()}`
    const before = this.#known.get(key)
    if (before !== undefined) return before
    const fields = new Map<string, FieldNode[]>()
    const spread = new Set<string>()
    for (const { selections } of sets) this.#collect(type, selections, fields, spread)
    const amount = once(sum([...fields.values()].map((nodes) => this.#ofField(type, nodes, sized))))
    this.#known.set(key, amount)
    return amount
  }

  #idOf(key: object): number {
    let id = this.#ids.get(key)
    if (id === undefined) this.#ids.set(key, (id = this.#ids.size))
    return id
  }

  #sizeOf(parent: GraphQLObjectType, field: AnyField, node: FieldNode, rule: ListSizeConfig): Amount {
    const key = `${parent.name} ${this.#idOf(node)}`
    const { listSize } = this.#model
    const size = this.#sizes.get(key) ?? sizeFor(`${parent.name}.${field.name}`, field, node, rule, listSize)
    this.#sizes.set(key, size)
    return size
  }

  #collect(
    type: GraphQLObjectType,
    selections: readonly SelectionNode[],
    fields: Map<string, FieldNode[]>,
    spread: Set<string>,
  ): void {
    for (const selection of selections) {
      this.#steps++
      if (this.isTooLong) return
      if (isLeftOut(selection.directives)) continue
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value
        const nodes = fields.get(name)
        if (nodes) nodes.push(selection)
        else fields.set(name, [selection])
        continue
      }
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        if (spread.has(selection.name.value)) continue
        spread.add(selection.name.value)
      }
      const fragment =
        selection.kind === Kind.INLINE_FRAGMENT ? selection : this.#fragments.get(selection.name.value)
      const condition = fragment?.typeCondition?.name.value
      if (fragment && this.#applies(type, condition))
        this.#collect(type, fragment.selectionSet.selections, fields, spread)
    }
  }

  #applies(type: GraphQLObjectType, condition: string | undefined): boolean {
    const wanted = condition === undefined ? type : this.#schema.getType(condition)
    return wanted === type || (isAbstractType(wanted) && this.#schema.isSubType(wanted, type))
  }

  #ofField(parent: GraphQLObjectType, nodes: readonly FieldNode[], sized: Sized): Amount {
    const model = this.#model
    const [node] = nodes
    const field = node && parent.getFields()[node.name.value]
    // `__typename`, `__schema` and `__type` are no fields of their parents.
    if (!field) return 0
    const { listSize, arguments: weights = {} } = model.ruleOf(parent, field)
    const size = listSize && this.#sizeOf(parent, field, node, listSize)
    const isOfChildren = listSize?.sizedFields !== undefined && listSize.sizedFields.length > 0
    const children: Sized =
      size !== undefined && isOfChildren ? new Map(listSize.sizedFields.map((name) => [name, size])) : UNSIZED
    const depth = listDepth(field.type)
    const own = sized.get(field.name) ?? (isOfChildren ? undefined : size) ?? model.listSize
    const times = depth === 0 ? 1 : product([own, model.listSize ** (depth - 1)])
    const added = node.arguments?.map(({ name }) => weights[name.value] ?? 0) ?? []
    const input = this.#ofInput(field, node)
    const value = product([times, this.#ofValue(parent, field, nodes, children)])
    return sum([...added, input, value, ...checks(size)])
  }

  /** Adds one value of a field to what is selected of it. */
  #ofValue(parent: GraphQLNamedType, field: AnyField, nodes: readonly FieldNode[], sized: Sized): Amount {
    const weight = this.#model.weightOf(parent, field)
    const type = getNamedType(field.type)
    if (!isCompositeType(type)) return weight ?? 0
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
    const types = possibleTypes(this.#schema, type)
    const costOf = (one: GraphQLObjectType): Amount =>
      sum([weight ?? this.#model.weightOfType(one), this.ofObject(one, sets, sized)])
    return largest(types.map(costOf))
  }
}

/** A size that may refuse has to be asked for, whatever it is multiplied by. */
function checks(size: Amount | undefined): readonly Amount[] {
  return typeof size === 'function' ? [(run) => size(run) * 0 || 0] : []
}

function isLeftOut(directives: readonly DirectiveNode[] = []): boolean {
  return directives.some(({ name, arguments: [argument] = [] }) => {
    if (argument?.value.kind !== Kind.BOOLEAN) return false
    return name.value === 'skip' ? argument.value.value : name.value === 'include' && !argument.value.value
  })
}
