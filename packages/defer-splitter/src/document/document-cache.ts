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

/** Cached data of an operation, and of each set of values of its directives' variables. */
interface KnownOperation {
  readonly definition: OperationDefinitionNode
  /** The fragments by name, as resolvers receive them. */
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
  /** Returns the number of active `@defer` fragments for the variables of a request. */
  countDeferred(given: Variables | null | undefined): number
  /** @param variables coerced, or with the defaults of the operation */
  selections(schema: GraphQLSchema | undefined, variables: Variables): Selections
}

/** Directives that affect which fields are selected or deferred. */
const deciding: ReadonlySet<string> = new Set(['skip', 'include', ...incrementalNames])
/** Maximum number of cached variants. A variable of a directive is true, false or missing. */
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

  /** Returns only the variables of directives, so that other variables of requests are not kept. */
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

/** Creates the cache. Yoga returns the same document object for the same query string. */
export function createDocumentCache(): DocumentCache {
  return keyed((document: DocumentNode) => new KnownDocument(document), new WeakMap())
}

/** Cached data of a document. For most documents, only `isIncremental` is read. */
export class KnownDocument {
  /** Whether the document contains `@defer` or `@stream`, active or not. */
  readonly isIncremental: boolean
  readonly #document: DocumentNode
  #stripped: DocumentNode | undefined
  #eager: ((schema: GraphQLSchema) => DocumentNode) | undefined
  #operations: ((definition: OperationDefinitionNode) => KnownOperation) | undefined

  constructor(document: DocumentNode) {
    this.#document = document
    this.isIncremental = mentionsIncremental(document)
  }

  /** The document without these directives. */
  get stripped(): DocumentNode {
    return (this.#stripped ??= this.isIncremental ? stripIncremental(this.#document) : this.#document)
  }

  /** Returns the document for the eager strategy. */
  eager(schema: GraphQLSchema): DocumentNode {
    this.#eager ??= keyed((given) => toEagerDocument(this.#document, given), new WeakMap())
    return this.#eager(schema)
  }

  /** Returns the operation with the name. Without a name, it returns the only operation. */
  operation(name: string | null | undefined): KnownOperation | undefined {
    const definition = getOperationAST(this.#document, name)
    if (!definition) return undefined
    this.#operations ??= keyed((given) => createKnownOperation(this.#document, given))
    return this.#operations(definition)
  }
}
