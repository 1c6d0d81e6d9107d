import { requestRefused } from '../http/errors.ts'
import { mediaTypeOf } from '../http/request-body.ts'
import { type PluginWithBehaviour, withBehaviour } from '../behaviour.ts'

/** A request with one of these cannot come from another site's form or link. */
const TOLD = ['apollo-require-preflight', 'graphql-preflight', 'x-graphql-csrf']
/** Taken too, but not told: its name says what stands behind. */
const HEADERS = [...TOLD, 'x-graphql-yoga-csrf']

/** Browsers send these to other sites without a preflight (Fetch standard, section 2.2.2). */
const SIMPLE_TYPES = new Set(['', 'application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'])

/** Refuses requests that a page of another site could send, and names the headers that allow them. */
export function useCsrfHeaders(): PluginWithBehaviour {
  return withBehaviour(
    {
      onRequestParse({ request: { method, headers } }) {
        if (isPreflighted(method, headers.get('content-type')) || HEADERS.some((name) => headers.has(name)))
          return
        throw requestRefused(
          403,
          'CSRF_HEADER_REQUIRED',
          `The request could come from a page of another site; send Content-Type: application/json, or one of the headers ${TOLD.join(', ')} with any value.`,
        )
      },
    },
    {
      accepts: ({ method, headers }) =>
        isPreflighted(method, headers['content-type']) || HEADERS.some((name) => headers[name] !== undefined),
    },
  )
}

/** A GET request has no body, so that other types than the one that the error names are mistakes or attempts. */
function isPreflighted(method: string | undefined, contentType: string | null | undefined): boolean {
  const type = mediaTypeOf(contentType)
  return method === 'GET' ? type === 'application/json' : !SIMPLE_TYPES.has(type)
}
