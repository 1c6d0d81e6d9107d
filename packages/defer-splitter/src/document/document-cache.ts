import {
  type DocumentNode,
  getOperationAST,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type FragmentDefinitionNode,
} from 'graphql'
import { keyed } from '@vinyasa/core'
import { mentionsIncremental, stripIncremental, toEagerDocument, countDeferred } from './document.ts'
import { directiveVariables, fragmentsOf, type Variables, withDefaults } from '@vinyasa/core/documents'
import { type BoundedMemo, createBoundedMemo } from './bounded-memo.ts'
import { incrementalNames } from './directives.ts'
import { createSelections, type Selections } from './selections.ts'

/** Facts about an operation, worked out once, or once per set of values of its directives' variables. */
interface KnownOperation {
  readonly definition: OperationDefinitionNode
  /** By name, as resolvers are given them. */
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
  /** How many `@defer` fragments are in force with the variables that a request gave. */
  countDeferred(given: Variables | null | undefined): number
  /** @param variables With the operation's defaults, or coerced. */
  selections(schema: GraphQLSchema | undefined, variables: Variables): Selections
}

/** Directives that decide what is selected, and what is deferred. */
const deciding: ReadonlySet<string> = new Set(['skip', 'include', ...incrementalNames])
/** A directive's variable is true, false or absent. */
const maxVariants = 32

function createKnownOperation(document: DocumentNode, definition: OperationDefinitionNode): KnownOperation {
  const fragments = fragmentsOf(document)
  const names = [...directiveVariables(document, deciding)]
  const counts = createBoundedMemo<number>(maxVariants)
  const plans = keyed(
    () => createBoundedMemo<Selections>(maxVariants),
    new WeakMap<object, BoundedMemo<Selections>>(),
  )
  const withoutSchema = {}

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

  return {
    definition,
    fragments: Object.fromEntries(fragments),
    countDeferred(given) {
      const variables = names.length === 0 ? {} : withDefaults(definition, given)
      return counts(variantOf(variables), () => countDeferred(definition, fragments, variables))
    },
    selections: (schema, variables) =>
      plans(schema ?? withoutSchema)(variantOf(variables), () =>
        createSelections({ schema, fragments, variables: relevant(variables) }, [definition.selectionSet]),
      ),
  }
}

export type DocumentCache = (document: DocumentNode) => KnownDocument

/** Yoga hands out the same document for the same text, so what is known of it can be kept beside it. */
export function createDocumentCache(): DocumentCache {
  return keyed((document: DocumentNode) => new KnownDocument(document), new WeakMap())
}

/** Facts about a document that are worked out once. Most documents are only asked whether they are incremental. */
export class KnownDocument {
  /** The document mentions `@defer` or `@stream`, in force or not. */
  readonly isIncremental: boolean
  readonly #document: DocumentNode
  #stripped: DocumentNode | undefined
  #eager: ((schema: GraphQLSchema) => DocumentNode) | undefined
  #operations: ((definition: OperationDefinitionNode) => KnownOperation) | undefined

  constructor(document: DocumentNode) {
    this.#document = document
    this.isIncremental = mentionsIncremental(document)
  }

  /** The document without them. */
  get stripped(): DocumentNode {
    return (this.#stripped ??= this.isIncremental ? stripIncremental(this.#document) : this.#document)
  }

  /** The document for the eager strategy. */
  eager(schema: GraphQLSchema): DocumentNode {
    this.#eager ??= keyed((given) => toEagerDocument(this.#document, given), new WeakMap())
    return this.#eager(schema)
  }

  /** The operation of that name; without a name the only one. */
  operation(name: string | null | undefined): KnownOperation | undefined {
    const definition = getOperationAST(this.#document, name)
    if (!definition) return undefined
    this.#operations ??= keyed((given) => createKnownOperation(this.#document, given))
    return this.#operations(definition)
  }
}
