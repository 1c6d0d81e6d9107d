import { type DocumentNode, type GraphQLSchema, type OperationDefinitionNode } from 'graphql'
import type { Place, Room } from '@vinyasa/base'
import { directiveVariables, forEachDirective, fragmentsOf, isIncluded } from '@vinyasa/documents'
import { fieldsOn, type SelectionScope } from './selection-scope.ts'
import { compilePlan, type Plan } from './compile-plan.ts'
import { NotPlannable } from './refusals.ts'
import { prepareVariables, type Variables } from './variables.ts'

/** An operation of a document, looked at once. */
export interface OperationPlans {
  readonly operation: OperationDefinitionNode
  /** The sources that have root fields in it, by the first of each. */
  readonly sources: readonly string[]
  coerce(given: Variables): Variables | undefined
  /**
   * The plan for what the variables select, or why there is none. `isNew`: it was not asked for before.
   */
  find(variables: Variables): {
    readonly plan: Plan | undefined
    readonly reason: string | undefined
    isNew: boolean
  }
}

type Found = ReturnType<OperationPlans['find']>

/** Each answer to an operation's `@skip`s and `@include`s has a plan of its own, up to so many. */
const MAX_VARIANTS = 32
/** Selections that are looked at for one plan: fragments in fragments multiply them. */
const MAX_SELECTIONS = 2_000
/** The memory that a selection of a plan takes, and a character of what it is made of. */
const BYTES_OF_SELECTION = 1_000
const BYTES_OF_CHARACTER = 200
const PLAN_BYTES = 20_000
const CONDITIONS: ReadonlySet<string> = new Set(['skip', 'include'])
const NO_VARIABLES: Variables = {}

export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  room: Pick<Room, 'hold'>,
): OperationPlans {
  const fragments = fragmentsOf(document)
  const { names: conditionNames, obstacle } = examine(document, operation)
  const variants = new Map<string, { readonly found: Found; place?: Place }>()
  /** Selections that were looked at for the last plan. */
  let selections = 0

  function included(conditions: Readonly<Record<string, boolean>>): SelectionScope['includes'] {
    selections = 0
    return (selection) => {
      if (++selections > MAX_SELECTIONS)
        throw new NotPlannable(`it selects more than ${MAX_SELECTIONS} fields, with fragments in place`)
      return isIncluded(selection, conditions)
    }
  }

  function compile(variables: Variables): Found {
    if (variants.size >= MAX_VARIANTS)
      return {
        plan: undefined,
        reason: `it has more than ${MAX_VARIANTS} forms by @skip and @include`,
        isNew: false,
      }
    if (obstacle !== undefined) return { plan: undefined, reason: obstacle, isNew: true }
    try {
      const conditions: Record<string, boolean> = {}
      for (const name of conditionNames) conditions[name] = variables[name] === true
      return {
        plan: planFor({ schema, operation, fragments, includes: included(conditions) }),
        reason: undefined,
        isNew: true,
      }
    } catch (error) {
      // Whatever a user's types throw here, they throw in ordinary execution too.
      return { plan: undefined, reason: error instanceof Error ? error.message : String(error), isNew: true }
    }
  }

  return {
    operation,
    sources: sourcesOf({ schema, operation, fragments, includes: () => true }),
    coerce: operation.variableDefinitions?.length ? prepareVariables(schema, operation) : () => NO_VARIABLES,
    find(variables) {
      let key = ''
      for (const name of conditionNames)
        key += variables[name] === true ? '1' : variables[name] === false ? '0' : '?'
      // Neither true nor false is an error.
      if (key.includes('?'))
        return { plan: undefined, reason: 'a condition is neither true nor false', isNew: false }
      const known = variants.get(key)
      known?.place?.use()
      if (known) return known.found
      const found = compile(variables)
      if (variants.size < MAX_VARIANTS) {
        const variant: { readonly found: Found; place?: Place } = { found: { ...found, isNew: false } }
        variants.set(key, variant)
        const characters = (document.loc?.end ?? 0) * BYTES_OF_CHARACTER
        const held = found.plan ? Math.max(characters, selections * BYTES_OF_SELECTION) : 0
        variant.place = room.hold(held + PLAN_BYTES, forgetting(variants, key))
      }
      return found
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

function planFor(scope: SelectionScope): Plan {
  const root = scope.schema.getQueryType()
  if (!root) throw new NotPlannable('the schema has no queries')
  return compilePlan(scope, root, fieldsOn(scope, root, [scope.operation.selectionSet]))
}

function sourcesOf(scope: SelectionScope): string[] {
  const { schema, operation } = scope
  const root = schema.getRootType(operation.operation)
  const sources = new Set<string>()
  const selected = root ? fieldsOn(scope, root, [operation.selectionSet]).values() : []
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
  let obstacle = operation === 'query' ? undefined : `it is a ${operation}`
  forEachDirective(document, ({ name: { value } }) => {
    if (value === 'defer' || value === 'stream') obstacle ??= `it uses @${value}`
  })
  return { names: [...directiveVariables(document, CONDITIONS)].sort(), obstacle }
}
