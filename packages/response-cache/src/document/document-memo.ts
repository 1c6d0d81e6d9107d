import { createRecent, type Recent } from '@vinyasa/base'
import type { GraphQLSchema } from 'graphql'
import type { GraphQLParams } from 'graphql-yoga'
import type { DocumentProfile } from './document-profile.ts'

/**
 * Profiles by the text that clients send, so that a hit needs no parsing. Only documents that passed
 * parse and validate are entered.
 */
export interface DocumentMemo {
  get(schema: GraphQLSchema, params: GraphQLParams): DocumentProfile | undefined
  add(schema: GraphQLSchema, params: GraphQLParams, profile: DocumentProfile): void
}

const maxDocuments = 1_000
/** Of all texts of a schema: what is kept of a document grows with its text. */
const maxCharacters = 1_048_576
const maxTextLength = 16_384

export function createDocumentMemo(): DocumentMemo {
  const bySchema = new WeakMap<GraphQLSchema, Recent<DocumentProfile>>()
  // A GraphQL name has no line break, so name and text cannot run into one another.
  const keyOf = ({ operationName, query }: GraphQLParams) =>
    operationName == null ? `\n${query}` : `${operationName}\n${query}`
  return {
    get(schema, params) {
      return bySchema.get(schema)?.get(keyOf(params))
    },
    add(schema, params, profile) {
      if ((params.query?.length ?? maxTextLength) >= maxTextLength) return
      let known = bySchema.get(schema)
      if (!known) bySchema.set(schema, (known = createRecent({ maxEntries: maxDocuments, maxCharacters })))
      known.set(keyOf(params), profile)
    },
  }
}
