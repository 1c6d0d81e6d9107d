import {
  type DocumentNode,
  type FragmentDefinitionNode,
  getOperationAST,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { createRecent, createRoom, keyed } from '@vinyasa/core'
import {
  directiveVariables,
  foldSelections,
  forEachDirective,
  type Fragments,
  fragmentsOf,
  isIncluded,
  type Variables,
  withDefaults,
  withoutDirectives,
} from '@vinyasa/core/documents'
import { activeDefer, createDeferFinder, incrementalNames, isIncremental } from './directives.ts'
import { Selections } from './selections.ts'

/** The alias of `__typename` that the eager strategy adds for objects of abstract types. It is not sent to clients. */
export const typenameAlias = '__deferTypename'

/** Directives that affect which fields are selected or deferred. */
const deciding: ReadonlySet<string> = new Set(['skip', 'include', ...incrementalNames])
/** Maximum number of cached sets of values of the directives' variables. */
const maxVariants = 32

/** Returns the cached data of a document. Yoga returns the same document object for the same query string. */
export type DocumentCache = (document: DocumentNode) => KnownDocument

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
    let found = false
    forEachDirective(document, (node) => {
      if (isIncremental(node)) found = true
    })
    this.isIncremental = found
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
    const definition = getOperationAST(this.#document, name) ?? undefined
    this.#operations ??= keyed((given) => createKnownOperation(this.#document, given))
    return definition && this.#operations(definition)
  }
}

/** Returns the document without `@defer` and `@stream`, and without variables that only these directives use. */
function stripIncremental(document: DocumentNode): DocumentNode {
  return withoutDirectives(document, incrementalNames)
}

/**
 * Returns the document for the eager strategy: without the directives, and with `__typename` for objects of abstract
 * types if a deferred fragment below depends on the type.
 */
function toEagerDocument(document: DocumentNode, schema: GraphQLSchema): DocumentNode {
  const typeInfo = new TypeInfo(schema)
  const defersBelow = createDeferFinder(fragmentsOf(document))
  const annotated: DocumentNode = visit(
    document,
    visitWithTypeInfo(typeInfo, {
      SelectionSet: {
        leave(node) {
          const type = typeInfo.getParentType()
          if (!type || !isAbstractType(type) || !defersBelow(node)) return undefined
          return {
            ...node,
            selections: [
              ...node.selections,
              {
                kind: Kind.FIELD,
                alias: { kind: Kind.NAME, value: typenameAlias },
                name: { kind: Kind.NAME, value: '__typename' },
              },
            ],
          }
        },
      },
    }),
  )
  return stripIncremental(annotated)
}

interface KnownOperation {
  readonly definition: OperationDefinitionNode
  /** The fragments by name, as resolvers receive them. */
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
  /** Returns the number of active `@defer` fragments for the variables of a request. */
  countDeferred(given: Variables | null | undefined): number
  /** Without a schema, every type condition can match. */
  selections(schema: GraphQLSchema | undefined, given: Variables | null | undefined): Selections
}

/** Caches the data of an operation for each set of values of its directives' variables, and for each schema. */
function createKnownOperation(document: DocumentNode, definition: OperationDefinitionNode): KnownOperation {
  const fragments = fragmentsOf(document)
  const defersBelow = createDeferFinder(fragments)
  const names = [...directiveVariables(document, deciding)]
  const withoutSchema = {}

  /** @param values for each variable: t for true, f for false, otherwise `-` */
  function createVariant(values: string) {
    const value = (index: number): boolean | undefined =>
      values[index] === '-' ? undefined : values[index] === 't'
    const variables = Object.fromEntries(names.map((name, index) => [name, value(index)]))
    return {
      count: countDeferred(definition, fragments, variables),
      selections: keyed((key: object) => {
        const schema = key === withoutSchema ? undefined : (key as GraphQLSchema)
        return new Selections({ schema, fragments, variables, defersBelow }, [definition.selectionSet])
      }, new WeakMap<object, Selections>()),
    }
  }

  type Variant = ReturnType<typeof createVariant>
  const known = createRecent<Variant>(createRoom(maxVariants))
  const variants = keyed(createVariant, { get: known.get, set: (key, value) => known.set(key, value, 1) })

  function variantFor(given: Variables | null | undefined): Variant {
    if (names.length === 0) return variants('')
    const variables = withDefaults(definition, given)
    return variants(names.map((name) => letterOf(variables[name])).join(''))
  }

  return {
    definition,
    fragments: Object.fromEntries(fragments),
    countDeferred: (given) => variantFor(given).count,
    selections: (schema, given) => variantFor(given).selections(schema ?? withoutSchema),
  }
}

function letterOf(value: unknown): string {
  if (typeof value !== 'boolean') return '-'
  return value ? 't' : 'f'
}

/** Returns the number of active `@defer` fragments in the operation. A named fragment counts each time it is spread. */
function countDeferred(
  operation: OperationDefinitionNode,
  fragments: Fragments,
  variables: Variables,
): number {
  const count = foldSelections<number>(fragments, 0, ({ selections }, below) => {
    let sum = 0
    for (const selection of selections) {
      if (!isIncluded(selection, variables)) continue
      if (selection.kind !== Kind.FIELD && activeDefer(selection, variables)) sum++
      sum += below(selection)
    }
    return sum
  })
  return count(operation.selectionSet)
}
