import { type ReceivedParams, withBehaviour } from '@vinyasa/core/pipeline'
import { isLiveRun } from '@vinyasa/core'
import type { GraphQLError } from 'graphql'
import type { GraphQLParams, Plugin } from 'graphql-yoga'
import type { Logger } from '../../logging/logger.ts'
import type { PersistedDocumentsConfig } from '../access-types.ts'
import { withText } from './apq.ts'
import type { RegisteredDocuments } from './load-documents.ts'
import { requestRefused } from '../../http/errors.ts'

/**
 * Names of the parameters in which requests send the id of a document (GraphQL over HTTP, appendix A; Relay).
 */
const ID_PARAMETERS = ['documentId', 'doc_id', 'id'] as const

/**
 * Puts the text of a registered document in the place of its id, before anything looks at the text: hits, plans, live
 * queries and sockets then know no difference. A text that the mode does not allow is refused before it is parsed; an
 * operation without a text is for the plugins behind.
 */
export function usePersistedDocuments(
  documents: RegisteredDocuments,
  { mode = 'allow' }: Pick<PersistedDocumentsConfig, 'mode'>,
  logger: Logger,
): Plugin {
  const texts = new Set(documents.values())
  const textOf = (id: string): string | undefined => documents.get(id) ?? documents.get(withoutPrefix(id))

  /** `context` is the server's: it tells of a run of a live query, whose subscribe was logged. */
  function checkFree({ query, operationName }: GraphQLParams, context: object): void {
    if (mode === 'allow' || !query || texts.has(query)) return
    if (mode === 'only') throw onlyRegistered()
    if (isLiveRun(context)) return
    logger.info({ operationName, query: query.slice(0, 500) }, 'document is not registered')
  }

  return withBehaviour(
    {},
    {
      changeParams(params, request) {
        const id = idOf(params, request)
        const text = id === undefined ? undefined : textOf(id)
        return text === undefined ? undefined : withText(params as GraphQLParams, text)
      },
      ...(mode !== 'allow' && {
        admit: (params, _request, context) => checkFree(params as GraphQLParams, context),
      }),
    },
  )
}

export function idOf(params: ReceivedParams, { method, url }: Request): string | undefined {
  const given = params as Readonly<Record<string, unknown>>
  // Yoga reads only the parameters that it knows from a query string.
  const searched = method === 'GET' ? new URL(url, 'http://localhost').searchParams : undefined
  const { persistedQuery } = Object(params.extensions) as { readonly persistedQuery?: unknown }
  const { sha256Hash } = Object(persistedQuery) as { readonly sha256Hash?: unknown }
  const ids = [sha256Hash, ...ID_PARAMETERS.map((name) => given[name] ?? searched?.get(name))]
  return ids.find((id) => typeof id === 'string')
}

/** Removes the prefix of hashes in a `documentId` (GraphQL over HTTP, appendix A). */
function withoutPrefix(id: string): string {
  return id.replace(/^sha256:/, '')
}

export function onlyRegistered(): GraphQLError {
  return requestRefused(
    403,
    'PERSISTED_QUERY_ONLY',
    'This API executes only registered documents; send the id or the exact text of a registered document.',
  )
}
