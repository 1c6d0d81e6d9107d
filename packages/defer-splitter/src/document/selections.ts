import {
  type DirectiveNode,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql'
import {
  collectFields,
  directiveArgument,
  type FieldWalk,
  type Fragments,
  isIncluded,
  type Variables,
} from '@vinyasa/core/documents'
import { activeDefer } from './directives.ts'

/** The data about a type that value completion needs. */
export type TypeShape = { readonly isNonNull: boolean } & (
  | { readonly kind: 'leaf'; readonly type: GraphQLLeafType }
  | { readonly kind: 'list'; readonly item: TypeShape }
  | { readonly kind: 'object'; readonly type: GraphQLObjectType }
  | { readonly kind: 'abstract'; readonly type: GraphQLAbstractType }
)

function toTypeShape(type: GraphQLOutputType): TypeShape {
  const isNonNull = isNonNullType(type)
  const nullable = isNonNull ? type.ofType : type
  if (isLeafType(nullable)) return { isNonNull, kind: 'leaf', type: nullable }
  if (isListType(nullable)) return { isNonNull, kind: 'list', item: toTypeShape(nullable.ofType) }
  if (isObjectType(nullable)) return { isNonNull, kind: 'object', type: nullable }
  return { isNonNull, kind: 'abstract', type: nullable }
}

/** The nodes that select one response key. */
export type FieldNodes = readonly [FieldNode, ...FieldNode[]]

/** A field that an operation selects on one type. */
export interface SelectedField {
  readonly key: string
  readonly nodes: FieldNodes
  /** `undefined` if the type is unknown or has no such field. */
  readonly definition: GraphQLField<unknown, unknown> | undefined
  readonly shape: TypeShape | undefined
  /** The selections below the field. Empty for a leaf. */
  readonly below: Selections
}

/** A field that can be executed. */
export interface PlannedField extends SelectedField {
  readonly definition: GraphQLField<unknown, unknown>
  readonly shape: TypeShape
}

/** One `@defer` fragment, identified by the node of its directive. */
export interface PlannedFragment {
  readonly usage: DirectiveNode
  readonly label: string | undefined
  readonly selections: Selections
}

/**
 * The fields and fragments that are selected on one type: the fields to execute immediately, and the deferred
 * fragments.
 */
export interface PlannedSelection {
  readonly selected: readonly SelectedField[]
  /** The selected fields that can be executed. */
  readonly fields: readonly PlannedField[]
  readonly deferred: readonly PlannedFragment[]
  /**
   * Response keys that several groups select, with all nodes. The groups are the immediate fields and each fragment.
   */
  readonly sharedKeys: ReadonlyMap<string, FieldNodes>
}

/** The common data of all selections of one operation with its variables. */
interface Selecting {
  /** `undefined` means that every type condition can match. */
  readonly schema: GraphQLSchema | undefined
  readonly fragments: Fragments
  readonly variables: Variables
  readonly defersBelow: (node: SelectionSetNode) => boolean
}

/** Selection sets that are merged, with a cache of the selections on each type. */
export class Selections {
  readonly #selecting: Selecting
  readonly #sets: readonly SelectionSetNode[]
  readonly #isInlined: boolean
  readonly #ofTypes = new Map<GraphQLObjectType | undefined, PlannedSelection>()
  #lastType: GraphQLObjectType | undefined
  #last: PlannedSelection | undefined
  #inlined: Selections | undefined

  constructor(selecting: Selecting, sets: readonly SelectionSetNode[], isInlined = false) {
    this.#selecting = selecting
    this.#sets = sets
    this.#isInlined = isInlined
  }

  /** The same selections with the fragments of this level inlined. */
  get inlined(): Selections {
    return (this.#inlined ??= new Selections(this.#selecting, this.#sets, true))
  }

  /** Whether the selections belong to a leaf field. */
  get isEmpty(): boolean {
    return this.#sets.length === 0
  }

  /** Returns whether `@defer`, active or not, is at this level or below. */
  mayDefer(): boolean {
    return this.#sets.some(this.#selecting.defersBelow)
  }

  /**
   * Returns the selections on a type. If `type` is `undefined`, the runtime type is unknown, and every type condition
   * can match.
   */
  on(type: GraphQLObjectType | undefined): PlannedSelection {
    if (this.#last && type === this.#lastType) return this.#last
    let found = this.#ofTypes.get(type)
    if (!found) this.#ofTypes.set(type, (found = this.#plan(type)))
    this.#lastType = type
    this.#last = found
    return found
  }

  #plan(type: GraphQLObjectType | undefined): PlannedSelection {
    const { schema } = this.#selecting
    const { fields, deferred } = this.#gather(type)
    const selected = [...fields].map(([key, nodes]): SelectedField => {
      const definition = type && fieldOf(schema, type, nodes[0].name.value)
      const shape = definition && toTypeShape(definition.type)
      const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
      return { key, nodes, definition, shape, below: new Selections(this.#selecting, sets) }
    })
    return {
      selected,
      fields: selected.filter((field): field is PlannedField => field.definition !== undefined),
      deferred,
      sharedKeys: sharedKeysOf(fields, deferred, type),
    }
  }

  #gather(
    type: GraphQLObjectType | undefined,
    around: readonly DirectiveNode[] = [],
  ): { readonly fields: ReturnType<typeof collectFields>; readonly deferred: readonly PlannedFragment[] } {
    const { schema, fragments, variables } = this.#selecting
    const deferred: PlannedFragment[] = []
    /** Returns whether the fragment is executed immediately. */
    const enters: FieldWalk['enters'] = (use, fragment) => {
      const usage = use.directives?.length ? activeDefer(use, variables) : undefined
      if (!usage) return true
      // Validation refuses fragments that spread themselves.
      if (around.includes(usage)) return false
      const selections = new Selections(this.#selecting, [fragment.selectionSet])
      const own = selections.#gather(type, [...around, usage])
      // A fragment that contains only other fragments delivers nothing itself, so these fragments replace it.
      if (own.fields.size === 0) deferred.push(...own.deferred)
      else deferred.push({ usage, label: labelOf(usage), selections })
      return false
    }
    const includes: FieldWalk['includes'] = (selection) =>
      !selection.directives?.length || isIncluded(selection, variables)
    const walk = { fragments, schema, type, includes, enters: this.#isInlined ? undefined : enters }
    return { fields: collectFields(walk, this.#sets), deferred }
  }
}

function sharedKeysOf(
  fields: ReadonlyMap<string, FieldNodes>,
  deferred: readonly PlannedFragment[],
  type: GraphQLObjectType | undefined,
): PlannedSelection['sharedKeys'] {
  const seen = new Map(fields)
  const shared = new Map<string, FieldNodes>()
  for (const { selections } of deferred) {
    for (const { key, nodes } of selections.inlined.on(type).selected) {
      const before = seen.get(key)
      const all: FieldNodes = before ? [...before, ...nodes] : nodes
      if (before) shared.set(key, all)
      seen.set(key, all)
    }
  }
  return shared
}

function labelOf(directive: DirectiveNode): string | undefined {
  const label = directiveArgument(directive, 'label')
  return typeof label === 'string' ? label : undefined
}

function fieldOf(
  schema: GraphQLSchema | undefined,
  type: GraphQLObjectType,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  if (name.startsWith('__')) {
    if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef
    if (type === schema?.getQueryType()) {
      if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef
      if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef
    }
  }
  return type.getFields()[name]
}
