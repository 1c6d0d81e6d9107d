import { BadStatus } from './attempt.ts'
import type { UpstreamDetails } from '../errors.ts'
import type { WireRequest } from './transport.ts'

const SECRET_HEADER = /^(?:authorization|proxy-authorization|cookie|set-cookie)$|key|token|secret/

/** A key in the query is a credential, too. */
const SECRET_PARAMETER = /([?&][^=&]*(?:key|token|secret|signature)[^=&]*=)[^&]*/gi

/** The request and the answer as they were, without credentials: for `exposeErrors`. */
export function upstreamDetails(
  base: URL,
  request: WireRequest | undefined,
  error: unknown,
): UpstreamDetails | undefined {
  if (!request) return undefined
  const { method, path, origin = base.origin, headers } = request
  return {
    method,
    url: origin + path.replace(SECRET_PARAMETER, '$1[redacted]'),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, SECRET_HEADER.test(name) ? '[redacted]' : value]),
    ),
    ...(error instanceof BadStatus && { body: error.excerpt }),
  }
}
