import { useUploads } from '@vinyasa/node-handler'
import { NoSchemaIntrospectionCustomRule } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { useProxyCacheHeaders } from '../http/cors.ts'
import { useParameters } from '../http/parameters.ts'
import { useRequestBody } from '../http/request-body.ts'
import { useDocumentLimits } from '../limits/plugin.ts'
import type { HttpSettings } from '../presets.ts'
import { useCsrfHeaders } from './csrf.ts'
import { useErrorMessages } from './error-messages.ts'
import { withBehaviour } from '../behaviour.ts'

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
