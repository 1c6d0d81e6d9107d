import type { Plugin } from 'graphql-yoga'

type RequestPayload = Parameters<NonNullable<Plugin['onRequest']>>[0]

/**
 * Serves the path on which every client is answered in parts. Requests to it go on to that of GraphQL. The function that it
 * returns gives true for a request that asks for an operation on this path, and goes on. One that asks for none is answered.
 *
 * @param path Default: `/defer` behind that of GraphQL.
 */
export function createDeferEndpoint(
  graphqlPath: string,
  path: string = `${graphqlPath.replace(/\/$/, '')}/defer`,
): (payload: Omit<RequestPayload, 'serverContext'>) => boolean {
  return ({ request, url, fetchAPI, setRequest, endResponse }) => {
    if (!request.url.includes(path)) return false
    const target = new fetchAPI.URL(request.url, 'http://localhost')
    if (target.pathname !== path) return false
    if (request.method !== 'POST') {
      endResponse(new fetchAPI.Response(null, { status: 405, headers: { Allow: 'POST' } }))
      return false
    }
    target.pathname = graphqlPath
    setRequest(withUrl(request, target.toString()))
    // Yoga's routing looks at both; `url` is made from the request unless an earlier hook has looked at it.
    if (url instanceof fetchAPI.URL) url.pathname = graphqlPath
    return true
  }
}

/**
 * The request under another URL. A proxy, as the body can be read only once and must stay where it is.
 */
function withUrl(request: Request, url: string): Request {
  return new Proxy(request, {
    get(target, key) {
      if (key === 'url') return url
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
