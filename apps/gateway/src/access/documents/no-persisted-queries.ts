import { GraphQLError } from 'graphql'
import { type PluginWithBehaviour, withBehaviour } from '../../behaviour.ts'

/**
 * Tells clients of automatic persisted queries that nothing is remembered here, in the words on which they send the
 * text, then and from then on. With status 200, as Apollo Server has it: some take no other for an answer.
 */
export function useNoPersistedQueries(): PluginWithBehaviour {
  return withBehaviour({
    onParams({ params: { query, extensions } }) {
      const { persistedQuery } = Object(extensions) as { readonly persistedQuery?: unknown }
      if (query || typeof persistedQuery !== 'object' || persistedQuery === null) return
      throw new GraphQLError('PersistedQueryNotSupported', {
        extensions: {
          code: 'PERSISTED_QUERY_NOT_SUPPORTED',
          http: { status: 200, headers: { 'cache-control': 'no-store' } },
        },
      })
    },
  })
}
