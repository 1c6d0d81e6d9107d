import type { GraphQLSchema } from 'graphql'
import type { AccessSections } from '../access-types.ts'
import { firstMistake } from '../../texts/first-mistake.ts'
import { loadDocuments } from './load-documents.ts'

/** A registered document that the schema does not answer. */
export interface InvalidDocument {
  readonly id: string
  readonly reason: string
}

/**
 * Returns the documents that clients would be refused, each with its first mistake. A document of a folder is
 * listed by its name alone.
 */
export async function findInvalidDocuments(
  config: Pick<AccessSections, 'persistedDocuments'>,
  baseDirectory: string,
  schema: GraphQLSchema,
): Promise<readonly InvalidDocument[]> {
  const reasons = new Map<string, string | undefined>()
  const invalid: InvalidDocument[] = []
  const { from = [] } = config.persistedDocuments ?? {}
  for (const [id, text] of await loadDocuments(from, baseDirectory)) {
    // The same under its hash.
    if (reasons.has(text)) continue
    const reason = firstMistake(text, schema)
    reasons.set(text, reason)
    if (reason !== undefined) invalid.push({ id, reason })
  }
  return invalid
}
