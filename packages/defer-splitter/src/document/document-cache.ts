import { type DocumentNode, getOperationAST, type GraphQLSchema, type OperationDefinitionNode } from 'graphql'
import { mentionsIncremental, stripIncremental, toEagerDocument } from './document.ts'
import { createKnownOperation, type KnownOperation } from './known-operation.ts'

/** Facts about a document that are worked out once. */
export interface KnownDocument {
  /** The document mentions `@defer` or `@stream`, in force or not. */
  readonly isIncremental: boolean
  /** The document without them. */
  readonly stripped: DocumentNode
  /** The document for the eager strategy. */
  eager(schema: GraphQLSchema): DocumentNode
  /** The operation of that name; without a name the only one. */
  operation(name: string | null | undefined): KnownOperation | undefined
}

export type DocumentCache = (document: DocumentNode) => KnownDocument

/** Yoga hands out the same document for the same text, so what is known of it can be kept beside it. */
export function createDocumentCache(): DocumentCache {
  const known = new WeakMap<DocumentNode, KnownDocument>()
  return (document) => {
    let entry = known.get(document)
    if (!entry) known.set(document, (entry = learnDocument(document)))
    return entry
  }
}

export function learnDocument(document: DocumentNode): KnownDocument {
  return new LearntDocument(document)
}

/** Most documents are only asked whether they are incremental. */
class LearntDocument implements KnownDocument {
  readonly isIncremental: boolean
  readonly #document: DocumentNode
  #stripped: DocumentNode | undefined
  #eager: WeakMap<GraphQLSchema, DocumentNode> | undefined
  #operations: Map<OperationDefinitionNode, KnownOperation> | undefined

  constructor(document: DocumentNode) {
    this.#document = document
    this.isIncremental = mentionsIncremental(document)
  }

  get stripped(): DocumentNode {
    return (this.#stripped ??= this.isIncremental ? stripIncremental(this.#document) : this.#document)
  }

  eager(schema: GraphQLSchema): DocumentNode {
    const eager = (this.#eager ??= new WeakMap())
    let found = eager.get(schema)
    if (!found) eager.set(schema, (found = toEagerDocument(this.#document, schema)))
    return found
  }

  operation(name: string | null | undefined): KnownOperation | undefined {
    const definition = getOperationAST(this.#document, name)
    if (!definition) return undefined
    const operations = (this.#operations ??= new Map())
    let known = operations.get(definition)
    if (!known) operations.set(definition, (known = createKnownOperation(this.#document, definition)))
    return known
  }
}
