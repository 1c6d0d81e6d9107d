import { useCSRFPrevention } from '@graphql-yoga/plugin-csrf-prevention'
import { requestRefused } from '../http/errors.ts'
import { type PluginWithBehaviour, withBehaviour } from '../behaviour.ts'

/** A request with one of these cannot come from another site's form or link. */
const TOLD = ['apollo-require-preflight', 'graphql-preflight', 'x-graphql-csrf']
/** Taken too, but not told: its name says what stands behind. */
const HEADERS = [...TOLD, 'x-graphql-yoga-csrf']

/** Refuses what a page of another site could send by itself, and says which header mends it. */
export function useCsrfHeaders(): PluginWithBehaviour {
  const { onRequestParse } = useCSRFPrevention({ requestHeaders: HEADERS })
  return withBehaviour(
    {
      onRequestParse(payload) {
        try {
          return onRequestParse?.(payload)
        } catch {
          throw requestRefused(
            403,
            'CSRF_HEADER_REQUIRED',
            `A page of another site could have sent this request: add the Content-Type application/json, or a header ${TOLD.join(', ')} with any value.`,
          )
        }
      },
    },
    {
      // A POST has the first; what has neither is refused on the ordinary way.
      accepts: ({ headers }) =>
        headers['content-type']?.startsWith('application/json') === true ||
        HEADERS.some((name) => headers[name] !== undefined),
    },
  )
}
