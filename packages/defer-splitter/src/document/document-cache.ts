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
  const isIncremental = mentionsIncremental(document)
  const eager = new WeakMap<GraphQLSchema, DocumentNode>()
  const operations = new Map<OperationDefinitionNode, KnownOperation>()
  let stripped: DocumentNode | undefined
  return {
    isIncremental,
    get stripped() {
      return (stripped ??= isIncremental ? stripIncremental(document) : document)
    },
    eager(schema) {
      let found = eager.get(schema)
      if (!found) eager.set(schema, (found = toEagerDocument(document, schema)))
      return found
    },
    operation(name) {
      const definition = getOperationAST(document, name)
      if (!definition) return undefined
      let known = operations.get(definition)
      if (!known) operations.set(definition, (known = createKnownOperation(document, definition)))
      return known
    },
  }
}
