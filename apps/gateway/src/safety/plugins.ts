import { type Behaviour, withBehaviour, type PluginWithBehaviour } from '@vinyasa/core/pipeline'
import { useUploads } from '@vinyasa/node-handler'
import { NoSchemaIntrospectionCustomRule, type DocumentNode, type Source } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { CorsSetting } from '../http/cors.ts'
import { useParameters } from '../http/parameters.ts'
import { useRequestBody, mediaTypeOf } from '../http/request-body.ts'
import type { HttpSettings } from '../presets.ts'
import { useErrorMessages } from './error-messages.ts'
import { DOCUMENT_LIMIT_EXCEEDED, errorsOf } from '../limits/errors.ts'
import { measureOperation } from '../limits/measure-operation.ts'
import { type DocumentLimits, scanTokens } from '../limits/scan-tokens.ts'
import { requestRefused } from '../http/errors.ts'

/** A request with one of these cannot come from another site's form or link. */
const TOLD = ['apollo-require-preflight', 'graphql-preflight', 'x-graphql-csrf']
/** Taken too, but not told: its name says what stands behind. */
const HEADERS = [...TOLD, 'x-graphql-yoga-csrf']

/** Browsers send these to other sites without a preflight (Fetch standard, section 2.2.2). */
const SIMPLE_TYPES = new Set(['', 'application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'])

/** Refuses requests that a page of another site could send, and names the headers that allow them. */
function useCsrfHeaders(): PluginWithBehaviour {
  return withBehaviour(
    {},
    {
      checkRequest({ method, headers }) {
        if (isPreflighted(method, headers.get('content-type')) || HEADERS.some((name) => headers.has(name)))
          return
        throw requestRefused(
          403,
          'CSRF_HEADER_REQUIRED',
          `The request could come from a page of another site; send Content-Type: application/json, or one of the headers ${TOLD.join(', ')} with any value.`,
        )
      },
    },
  )
}

/** A GET request has no body, so that other types than the one that the error names are mistakes or attempts. */
function isPreflighted(method: string | undefined, contentType: string | null | undefined): boolean {
  if (contentType === 'application/json') return true
  const type = mediaTypeOf(contentType)
  return method === 'GET' ? type === 'application/json' : !SIMPLE_TYPES.has(type)
}

/**
 * Refuses documents over the limits with HTTP 400: most of them before they are parsed, so the parser's
 * recursion is safe. A document that passed is remembered by Yoga's parser cache and not measured again.
 */
function useDocumentLimits(limits: DocumentLimits): Plugin {
  return withBehaviour({
    onParse({ parseFn, setParseFn }) {
      setParseFn((source: string | Source, options?: object): DocumentNode => {
        scanTokens(typeof source === 'string' ? source : source.body, limits)
        const document: DocumentNode = parseFn(source, options)
        measureOperation(document, limits)
        return document
      })
    },
    // For a client that accepts only `application/json` Yoga marks what parsing throws as an answer of HTTP 200.
    onExecutionResult({ result }) {
      for (const error of errorsOf(result)) {
        if (error.extensions['code'] === DOCUMENT_LIMIT_EXCEEDED) error.extensions['http'] = { status: 400 }
      }
    },
  })
}

/** Returns the plugins between the network and the schema that the settings ask for. */
export function safetyPlugins(http: HttpSettings): readonly Plugin[] {
  return [
    useProxyCacheHeaders(http.cors),
    ...(http.csrfPrevention ? [useCsrfHeaders()] : []),
    useRequestBody({ maxBytes: http.maxBodyBytes, ...http.limits }),
    // Behind what reads bodies: of multipart requests it reads them instead.
    ...(http.uploads
      ? [withBehaviour(useUploads({ ...http.uploads, maxFieldBytes: http.maxBodyBytes }))]
      : []),
    useParameters(http.limits),
    ...(http.introspection ? [] : [useNoIntrospection()]),
    useDocumentLimits(http.limits),
    useErrorMessages({ hideSuggestions: !http.introspection }),
  ]
}

/** Refuses `__schema` and `__type` on every transport; `__typename` stays. */
function useNoIntrospection(): Plugin {
  return withBehaviour({
    onValidate({ addValidationRule }) {
      addValidationRule(NoSchemaIntrospectionCustomRule)
    },
  })
}

/**
 * Sets headers for caches in front of the gateway. `Vary: Origin`: responses differ by origin if `cors` is on. `no-store`:
 * they would keep a GET response without Cache-Control by heuristics (RFC 9111, section 4.2.2).
 */
function useProxyCacheHeaders(cors: CorsSetting): Plugin {
  const respond: Behaviour['respond'] = ({ request }, response) => {
    if (request.method === 'GET' && !response.headers.has('cache-control'))
      response.headers.set('cache-control', 'no-store')
    const vary = response.headers.get('vary')
    if (cors === false || (vary !== null && /\borigin\b/i.test(vary))) return
    // Yoga's class of headers keeps one that it was made with in other letters beside what is set.
    response.headers.delete('vary')
    response.headers.set('vary', vary === null ? 'Origin' : `${vary}, Origin`)
  }
  return withBehaviour({}, { respond })
}
