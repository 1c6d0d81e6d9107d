import {
  Kind,
  visit,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql'
import { coerceVariables, type Variables } from './coerce-variables.ts'
import { collectFields, conditionVariable, type SelectionScope } from './collect-fields.ts'
import { compileShares, type SharedPlan } from './compile-shares.ts'
import { planShare } from './plan-share.ts'
import { Unplannable } from './unplannable.ts'

/** What is called, and how the answer is put together of what the calls bring. */
export interface Plan extends SharedPlan {
  readonly operation: OperationDefinitionNode
}

/** An operation of a document, looked at once. */
export interface OperationPlans {
  readonly name: string | undefined
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
const NO_VARIABLES: Variables = {}

export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): OperationPlans {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  }
  const { names: conditionNames, obstacle } = examine(document, operation)
  const variants = new Map<string, Found>()

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
        plan: compilePlan(operation, { schema, fragments, conditions, joinedBy: new Map() }),
        reason: undefined,
        isNew: true,
      }
    } catch (error) {
      // Whatever a user's types throw here, they throw in ordinary execution too.
      return { plan: undefined, reason: error instanceof Error ? error.message : String(error), isNew: true }
    }
  }

  return {
    name: operation.name?.value,
    coerce: (given) =>
      operation.variableDefinitions?.length ? coerceVariables(schema, operation, given) : NO_VARIABLES,
    find(variables) {
      let key = ''
      for (const name of conditionNames)
        key += variables[name] === true ? '1' : variables[name] === false ? '0' : '?'
      // Neither true nor false is an error.
      if (key.includes('?'))
        return { plan: undefined, reason: 'a condition is neither true nor false', isNew: false }
      const known = variants.get(key)
      if (known) return known
      const found = compile(variables)
      if (variants.size < MAX_VARIANTS) variants.set(key, { ...found, isNew: false })
      return found
    },
  }
}

function compilePlan(operation: OperationDefinitionNode, scope: SelectionScope): Plan {
  const root = scope.schema.getQueryType()
  if (!root) throw new Unplannable('the schema has no queries')
  const selected = collectFields(scope, root, [operation.selectionSet])
  return { operation, ...compileShares(scope, operation, root, selected, planShare) }
}

/** The variables that decide what is selected, and what rules a plan out whatever they are. */
function examine(
  document: DocumentNode,
  { operation }: OperationDefinitionNode,
): { readonly names: readonly string[]; readonly obstacle: string | undefined } {
  const names = new Set<string>()
  let obstacle = operation === 'query' ? undefined : `it is a ${operation}`
  visit(document, {
    Directive(node) {
      const name = conditionVariable(node)
      if (name !== undefined) names.add(name)
      if (node.name.value === 'defer' || node.name.value === 'stream')
        obstacle ??= `it uses @${node.name.value}`
    },
  })
  return { names: [...names].sort(), obstacle }
}
