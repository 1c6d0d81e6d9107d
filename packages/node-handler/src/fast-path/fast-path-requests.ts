import { IncomingMessage } from 'node:http'
import { createChoices } from '../http/remembered-choices.ts'

/**
 * Tells the requests of the fast path: a POST whose body Yoga parses as JSON, straight from node:http: nobody has
 * read, parsed or rewritten it.
 */
export function fastPathRequests(): (request: IncomingMessage) => boolean {
  const isJson = createChoices((contentType) =>
    /^application\/(?:graphql\+)?json(?:;|$)/.test(contentType.split(',', 1)[0] ?? ''),
  )
  return (request) => {
    if (request.method !== 'POST' || !(request instanceof IncomingMessage)) return false
    if (!isJson(request.headers['content-type'] ?? '')) return false
    return !('body' in request || 'query' in request || 'originalUrl' in request || 'raw' in request)
  }
}
