import { IncomingMessage } from 'node:http'
import type { FetchAPI, Plugin } from 'graphql-yoga'

type RequestParsePayload = Parameters<NonNullable<Plugin['onRequestParse']>>[0]
export type RequestParser = NonNullable<RequestParsePayload['requestParser']>

/**
 * Returns whether the body comes directly from Node and ends at the Content-Length that Yoga's limit checked. Yoga's
 * counting stream, which costs more than a hit, then is not necessary.
 */
export function isBoundedBody(request: Request, serverContext: object): boolean {
  const { req } = serverContext as { readonly req?: unknown }
  // If the body was partly read, waiting for it would never end.
  if (!(req instanceof IncomingMessage) || req.readableDidRead || req.destroyed) return false
  // Yoga's class holds its source. Other classes can need to create a request for this check, so they are not
  // supported.
  if (!Object.hasOwn(request, 'bodyInit')) return false
  if ((request as { readonly bodyInit?: unknown }).bodyInit !== req) return false
  // A lenient parser accepts chunks beyond a Content-Length.
  if (req.headers['transfer-encoding'] !== undefined) return false
  return request.headers.get('content-length') === receivedLength(req)
}

/**
 * Returns the length as received. A plugin that changes the headers of the request also changes those of the message.
 */
function receivedLength({ rawHeaders }: IncomingMessage): string | undefined {
  const name = 'content-length'
  const at = rawHeaders.findIndex((raw) => raw.length === name.length && raw.toLowerCase() === name)
  return rawHeaders[at + 1]
}

/** Returns the parameters in a body. `parser` is Yoga's parser, which creates the error for other bodies. */
export function parseJsonBody(
  text: string,
  { url, method, headers }: Request,
  parser: RequestParser,
  fetchAPI: FetchAPI,
): ReturnType<RequestParser> {
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null) return parsed
  } catch {
    // The parser below reports the error.
  }
  return parser(new fetchAPI.Request(url, { method, headers, body: text }))
}
