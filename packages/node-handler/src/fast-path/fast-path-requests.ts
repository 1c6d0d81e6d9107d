import { IncomingMessage } from 'node:http'
import { hasBody } from '../http/guard-body.ts'
import { createChoices } from '../http/remembered-choices.ts'

/**
 * Tells the requests of the fast path, straight from node:http: nobody has read, parsed or rewritten them. These are a
 * POST whose body Yoga parses as JSON, and a GET without a body that has parameters for the endpoint in its target.
 */
export function fastPathRequests(endpoint: unknown): (request: IncomingMessage) => boolean {
  const targets = typeof endpoint === 'string' ? `${endpoint}?` : undefined
  const isJson = createChoices((contentType) =>
    /^application\/(?:graphql\+)?json(?:;|$)/.test(contentType.split(',', 1)[0] ?? ''),
  )

  function isOurs({ method, url, headers }: IncomingMessage): boolean {
    if (method === 'POST') return isJson(headers['content-type'] ?? '') === true
    return method === 'GET' && targets !== undefined && url?.startsWith(targets) === true && !hasBody(headers)
  }

  return (request) => {
    if (!(request instanceof IncomingMessage) || !isOurs(request)) return false
    return !('body' in request || 'query' in request || 'originalUrl' in request || 'raw' in request)
  }
}
