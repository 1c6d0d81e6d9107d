import { type DocumentNode, getOperationAST, type GraphQLSchema, type OperationDefinitionNode } from 'graphql'
import { keyed } from '@vinyasa/base'
import { mentionsIncremental, stripIncremental, toEagerDocument } from './document.ts'
import { createKnownOperation, type KnownOperation } from './known-operation.ts'

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
  #eager: WeakMap<GraphQLSchema, DocumentNode> | undefined
  #operations: Map<OperationDefinitionNode, KnownOperation> | undefined

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
    const eager = (this.#eager ??= new WeakMap())
    let found = eager.get(schema)
    if (!found) eager.set(schema, (found = toEagerDocument(this.#document, schema)))
    return found
  }

  /** The operation of that name; without a name the only one. */
  operation(name: string | null | undefined): KnownOperation | undefined {
    const definition = getOperationAST(this.#document, name)
    if (!definition) return undefined
    const operations = (this.#operations ??= new Map())
    let known = operations.get(definition)
    if (!known) operations.set(definition, (known = createKnownOperation(this.#document, definition)))
    return known
  }
}
