import { IncomingMessage } from 'node:http'
import type { FetchAPI, Plugin } from 'graphql-yoga'

type RequestParsePayload = Parameters<NonNullable<Plugin['onRequestParse']>>[0]
export type RequestParser = NonNullable<RequestParsePayload['requestParser']>

/**
 * Whether the body is Node's own message and ends at the Content-Length that Yoga's limit saw.
 * Then the stream that Yoga would count it in, which costs more than a hit, has nothing to find.
 */
export function isBoundedBody(request: Request, serverContext: object): boolean {
  const { req } = serverContext as { readonly req?: unknown }
  // Whoever has begun to read it has taken what would be waited for here.
  if (!(req instanceof IncomingMessage) || req.readableDidRead || req.destroyed) return false
  // The class that Yoga ships keeps what it was made of. Another one may have to make a request first
  // to say so, and is not asked.
  if (!Object.hasOwn(request, 'bodyInit')) return false
  if ((request as { readonly bodyInit?: unknown }).bodyInit !== req) return false
  // A lenient parser lets chunks go beyond a Content-Length.
  if (req.headers['transfer-encoding'] !== undefined) return false
  return request.headers.get('content-length') === receivedLength(req)
}

/** Returns the length as received: a plugin that changes the request's headers changes the message's, too. */
function receivedLength({ rawHeaders }: IncomingMessage): string | undefined {
  const name = 'content-length'
  const at = rawHeaders.findIndex((raw) => raw.length === name.length && raw.toLowerCase() === name)
  return rawHeaders[at + 1]
}

/** The parameters in a body; `parser`, Yoga's own, words the errors of what is no JSON object. */
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
    // Said by the parser below.
  }
  return parser(new fetchAPI.Request(url, { method, headers, body: text }))
}
