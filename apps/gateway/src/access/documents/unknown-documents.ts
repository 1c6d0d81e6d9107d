import type { GraphQLError } from 'graphql'
import type { GraphQLParams } from 'graphql-yoga'
import { type PluginWithBehaviour, withBehaviour } from '../../behaviour.ts'
import { requestRefused } from '../../http/errors.ts'
import type { AccessSections } from '../access-types.ts'
import { hashIn, ofThisMoment } from './apq.ts'
import { idOf, onlyRegistered } from './persisted-documents.ts'

/** Where texts of documents may come from. */
type DocumentOrigins = Pick<AccessSections, 'apq' | 'persistedDocuments'>

/**
 * Refuses an operation of which nobody knows the text. It comes behind the plugins of the config, as one of them may know it:
 * Yoga's `usePersistedOperations` and `useAPQ` do.
 */
export function useUnknownDocuments(origins: DocumentOrigins): PluginWithBehaviour {
  return withBehaviour({
    onParams({ params, request }) {
      const refusal = params.query ? undefined : refusalOf(params, request, origins)
      if (refusal) throw refusal
    },
  })
}

/** Undefined: there is no id either, which Yoga says itself. */
function refusalOf(
  params: GraphQLParams,
  request: Request,
  { apq = false, persistedDocuments }: DocumentOrigins,
): GraphQLError | undefined {
  // With 200, as Apollo Server does: some clients read no bodies of other answers, and would not send the text.
  if (apq && hashIn(params) !== undefined)
    return ofThisMoment(200, 'PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound')
  if (persistedDocuments) {
    if (idOf(params, request) !== undefined)
      return requestRefused(404, 'PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound')
    return persistedDocuments.mode === 'only' ? onlyRegistered() : undefined
  }
  const { persistedQuery } = Object(params.extensions) as { readonly persistedQuery?: unknown }
  if (apq || typeof persistedQuery !== 'object' || persistedQuery === null) return undefined
  // In the words on which clients send the text, then and from then on.
  return ofThisMoment(200, 'PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported')
}
