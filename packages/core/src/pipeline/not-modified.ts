import type { FetchAPI } from 'graphql-yoga'

/** Returns a 304 response with the headers of a 200 response, except the `content-*` headers. */
export function notModified(response: Response, fetchAPI: FetchAPI): Response {
  const headers = new fetchAPI.Headers()
  response.headers.forEach((value, name) => {
    if (!name.startsWith('content-')) headers.append(name, value)
  })
  return new fetchAPI.Response(null, { status: 304, headers })
}
