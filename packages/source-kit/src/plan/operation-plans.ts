import { type DocumentNode, type GraphQLSchema, type OperationDefinitionNode } from 'graphql'
import type { Place, Room } from '@vinyasa/core'
import {
  collectFields,
  directiveVariables,
  forEachDirective,
  fragmentsOf,
  isIncluded,
} from '@vinyasa/core/documents'
import type { SelectionScope } from './selection-scope.ts'
import { compilePlan, type Plan } from './compile-plan.ts'
import { NotPlannable } from './refusals.ts'
import { prepareVariables, type CoerceVariables, type Variables } from './variables.ts'

/** The plan for what some variables select, or why there is none. */
interface Found {
  readonly plan: Plan | undefined
  readonly reason: string | undefined
  /** It was not asked for before. */
  readonly isNew: boolean
}

/** Each answer to an operation's `@skip`s and `@include`s has a plan of its own, up to so many. */
const MAX_VARIANTS = 32
/** Selections that are looked at for one plan: fragments in fragments multiply them. */
const MAX_SELECTIONS = 2_000
/** The memory that a plan takes, and each of its selections; and what says that there is none. */
const PLAN_BYTES = 3_000
const BYTES_OF_SELECTION = 500
const NO_PLAN_BYTES = 1_000
const CONDITIONS: ReadonlySet<string> = new Set(['skip', 'include'])

interface Variant {
  readonly found: Found
  place?: Place
}

/** An operation of a document, looked at once. */
export class OperationPlans {
  readonly operation: OperationDefinitionNode
  /** The sources that have root fields in it, by the first of each. */
  readonly sources: readonly string[]
  readonly coerce: CoerceVariables
  readonly #schema: GraphQLSchema
  readonly #document: DocumentNode
  readonly #roomOf: (document: DocumentNode) => Pick<Room, 'hold'>
  readonly #conditions: readonly string[]
  readonly #obstacle: string | undefined
  readonly #variants = new Map<string, Variant>()

  constructor(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    roomOf: (document: DocumentNode) => Pick<Room, 'hold'>,
  ) {
    const { names, obstacle } = examine(document, operation)
    this.operation = operation
    this.sources = sourcesOf({ schema, operation, fragments: fragmentsOf(document), includes: () => true })
    this.coerce = prepareVariables(schema, operation)
    this.#schema = schema
    this.#document = document
    this.#roomOf = roomOf
    this.#conditions = names
    this.#obstacle = obstacle
  }

  find(variables: Variables): Found {
    let key = ''
    for (const name of this.#conditions)
      key += variables[name] === true ? '1' : variables[name] === false ? '0' : '?'
    // Neither true nor false is an error.
    if (key.includes('?')) return noPlan('the condition of a @skip or @include directive is not a boolean')
    const variants = this.#variants
    const known = variants.get(key)
    known?.place?.use()
    if (known) return known.found
    if (variants.size >= MAX_VARIANTS)
      return noPlan(
        `the operation was called with more than ${MAX_VARIANTS} combinations of its @skip and @include conditions`,
      )
    const { plan, reason, selections } = this.#compile(variables)
    const variant: Variant = { found: { plan, reason, isNew: false } }
    variants.set(key, variant)
    const held = plan ? PLAN_BYTES + selections * BYTES_OF_SELECTION : NO_PLAN_BYTES
    variant.place = this.#roomOf(this.#document).hold(held, forgetting(variants, key))
    return { plan, reason, isNew: true }
  }

  #compile(variables: Variables): Pick<Found, 'plan' | 'reason'> & { readonly selections: number } {
    const none = { plan: undefined, selections: 0 }
    if (this.#obstacle !== undefined) return { ...none, reason: this.#obstacle }
    const conditions: Record<string, boolean> = {}
    for (const name of this.#conditions) conditions[name] = variables[name] === true
    const counted = counting(conditions)
    const [schema, operation, fragments] = [this.#schema, this.operation, fragmentsOf(this.#document)]
    try {
      const scope = { schema, operation, fragments, includes: counted.includes }
      const root = schema.getQueryType()
      if (!root) throw new NotPlannable('the schema has no query type')
      const plan = compilePlan(scope, root, collectFields({ ...scope, type: root }, [operation.selectionSet]))
      return { plan, reason: undefined, selections: counted.selections() }
    } catch (error) {
      // Whatever a user's types throw here, they throw in ordinary execution too.
      return { ...none, reason: error instanceof Error ? error.message : String(error) }
    }
  }
}

function noPlan(reason: string): Found {
  return { plan: undefined, reason, isNew: false }
}

/** Counts the selections that are looked at for one plan. */
function counting(conditions: Readonly<Record<string, boolean>>): {
  readonly includes: SelectionScope['includes']
  selections(): number
} {
  let selections = 0
  return {
    selections: () => selections,
    includes(selection) {
      if (++selections > MAX_SELECTIONS)
        throw new NotPlannable(
          `the operation has more than ${MAX_SELECTIONS} selections, including the selections of fragments`,
        )
      return isIncluded(selection, conditions)
    },
  }
}

/**
 * Takes a plan out, without keeping its document: a room outlives those that nobody else keeps. It stands by itself, since
 * functions of one scope keep all that any of them needs.
 */
function forgetting(variants: Map<string, unknown>, key: string): () => void {
  const held = new WeakRef(variants)
  return () => void held.deref()?.delete(key)
}

function sourcesOf(scope: SelectionScope): string[] {
  const { schema, operation } = scope
  const root = schema.getRootType(operation.operation)
  const sources = new Set<string>()
  const selected = root ? collectFields({ ...scope, type: root }, [operation.selectionSet]).values() : []
  for (const [node] of selected) {
    const source = node && root?.getFields()[node.name.value]?.extensions['source']
    if (typeof source === 'string') sources.add(source)
  }
  return [...sources]
}

/** The variables that decide what is selected, and what rules a plan out whatever they are. */
function examine(
  document: DocumentNode,
  { operation }: OperationDefinitionNode,
): { readonly names: readonly string[]; readonly obstacle: string | undefined } {
  let obstacle = operation === 'query' ? undefined : `the operation is a ${operation}`
  forEachDirective(document, ({ name: { value } }) => {
    if (value === 'defer' || value === 'stream') obstacle ??= `the operation uses @${value}`
  })
  return { names: [...directiveVariables(document, CONDITIONS)].sort(), obstacle }
}
