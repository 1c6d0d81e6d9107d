import type {
  DocumentNode,
  FragmentDefinitionNode,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql'
import { keyed } from '@vinyasa/base'
import { directiveVariables, fragmentsOf, type Variables, withDefaults } from '@vinyasa/documents'
import { type BoundedMemo, createBoundedMemo } from './bounded-memo.ts'
import { createFieldCollector, type FieldCollector } from './collect-fields.ts'
import { countDeferred } from './document.ts'
import { Selections } from './selections.ts'

/** Facts about an operation, worked out once, or once per set of values of its directives' variables. */
export interface KnownOperation {
  readonly definition: OperationDefinitionNode
  /** By name, as resolvers are given them. */
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
  /** The operation's own: always the same list, as collectors remember by its identity. */
  readonly selectionSets: readonly SelectionSetNode[]
  /** How many `@defer` fragments are in force with the variables that a request gave. */
  countDeferred(given: Variables | null | undefined): number
  /** @param variables With the operation's defaults, or coerced. */
  collector(schema: GraphQLSchema | undefined, variables: Variables): FieldCollector
  /** The same as a plan for execution. */
  selections(schema: GraphQLSchema, variables: Variables): Selections
}

/** Directives that decide what is selected, and what is deferred. */
const deciding: ReadonlySet<string> = new Set(['skip', 'include', 'defer', 'stream'])
/** A directive's variable is true, false or absent. */
const maxVariants = 32

export function createKnownOperation(
  document: DocumentNode,
  definition: OperationDefinitionNode,
): KnownOperation {
  const fragments = fragmentsOf(document)
  const names = [...directiveVariables(document, deciding)]
  const selectionSets = [definition.selectionSet]
  const counts = createBoundedMemo<number>(maxVariants)
  const collectors = createSchemaMemo<FieldCollector>()
  const plans = createSchemaMemo<Selections>()

  /** Only what directives look at, so that no request's variables are kept. */
  function relevant(variables: Variables): Variables {
    return Object.fromEntries(names.map((name) => [name, variables[name]]))
  }

  function variantOf(variables: Variables): string {
    let variant = ''
    for (const name of names) {
      const value = variables[name]
      variant += value === true ? 't' : value === false ? 'f' : '-'
    }
    return variant
  }

  function collector(schema: GraphQLSchema | undefined, variables: Variables): FieldCollector {
    return collectors(schema, variantOf(variables), () =>
      createFieldCollector({ schema, fragments, variables: relevant(variables) }),
    )
  }

  return {
    definition,
    fragments: Object.fromEntries(fragments),
    selectionSets,
    countDeferred(given) {
      const variables = names.length === 0 ? {} : withDefaults(definition, given)
      return counts(variantOf(variables), () => countDeferred(definition, fragments, variables))
    },
    collector,
    selections: (schema, variables) =>
      plans(
        schema,
        variantOf(variables),
        () => new Selections(schema, collector(schema, variables), selectionSets),
      ),
  }
}

/** Kept as long as the schema lives. */
function createSchemaMemo<Value>() {
  const withoutSchema = {}
  const memoOf = keyed(() => createBoundedMemo<Value>(maxVariants), new WeakMap<object, BoundedMemo<Value>>())
  return (schema: GraphQLSchema | undefined, variant: string, create: () => Value): Value =>
    memoOf(schema ?? withoutSchema)(variant, create)
}
