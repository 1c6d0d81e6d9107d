import type { DocumentNode, GraphQLSchema } from 'graphql'
import { getFragments, getOperation, type Variables, withDefaults } from './collect-fields.ts'
import { countDeferred, mentionsIncremental, stripIncremental, toEagerDocument } from './document.ts'

/** What is worked out once per document. */
export interface KnownDocument {
  /** The document mentions `@defer` or `@stream`, in force or not. */
  readonly isIncremental: boolean
  /** The document without them. */
  readonly stripped: DocumentNode
  /** The document for the eager strategy. */
  eager(schema: GraphQLSchema): DocumentNode
  /** How many fragments are in force with these variables. */
  countDeferred(operationName: string | null | undefined, variables: Variables | null | undefined): number
}

export interface DocumentCache {
  of(document: DocumentNode): KnownDocument
  /** Parses a query text once, while it is among the last `maxTexts`. */
  parse(query: string, parse: (query: string) => DocumentNode): DocumentNode
}

/** Yoga hands out the same document for the same text, so what is known of it can be kept beside it. */
export function createDocumentCache(maxTexts: number = 500): DocumentCache {
  const known = new WeakMap<DocumentNode, KnownDocument>()
  const texts = new Map<string, DocumentNode>()

  return {
    of(document) {
      let entry = known.get(document)
      if (!entry) known.set(document, (entry = learn(document)))
      return entry
    },
    parse(query, parse) {
      const document = texts.get(query) ?? parse(query)
      // Moved to the end: the first one is the least recently used.
      texts.delete(query)
      texts.set(query, document)
      if (texts.size > maxTexts) {
        for (const oldest of texts.keys()) {
          texts.delete(oldest)
          break
        }
      }
      return document
    },
  }
}

function learn(document: DocumentNode): KnownDocument {
  const isIncremental = mentionsIncremental(document)
  const eager = new WeakMap<GraphQLSchema, DocumentNode>()
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
    countDeferred(operationName, variables) {
      const operation = isIncremental ? getOperation(document, operationName) : undefined
      if (!operation) return 0
      return countDeferred(operation, getFragments(document), withDefaults(operation, variables))
    },
  }
}
