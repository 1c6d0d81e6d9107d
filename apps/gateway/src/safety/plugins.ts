import { useCSRFPrevention } from '@graphql-yoga/plugin-csrf-prevention'
import type { Plugin } from 'graphql-yoga'
import { useVaryOrigin } from '../http/cors.ts'
import { useRequestBody } from '../http/request-body.ts'
import { useDocumentLimits } from '../limits/plugin.ts'
import type { HttpSettings } from '../presets.ts'
import { useShortErrors } from './short-errors.ts'
import { useNoIntrospection, useNoSuggestions } from './hide-schema.ts'
import { withShortWay } from '../short-way.ts'

/** A request with one of these cannot come from another site's form or link. */
const CSRF_HEADERS = [
  'x-graphql-csrf',
  'x-graphql-yoga-csrf',
  'apollo-require-preflight',
  'graphql-preflight',
]

/** What stands between the network and the schema, as far as the settings ask for it. */
export function safetyPlugins(http: HttpSettings): readonly Plugin[] {
  return [
    useVaryOrigin(http.cors),
    ...(http.csrfPrevention ? [withShortWay(useCSRFPrevention({ requestHeaders: CSRF_HEADERS }))] : []),
    useRequestBody({ maxBytes: http.maxBodyBytes, ...http.limits }),
    ...(http.introspection ? [] : [useNoIntrospection()]),
    ...(http.suggestions ? [] : [useNoSuggestions()]),
    useDocumentLimits(http.limits),
    useShortErrors(),
  ]
}
