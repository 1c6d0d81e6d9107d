import type { Plugin } from 'graphql-yoga'

type RequestPayload = Parameters<NonNullable<Plugin['onRequest']>>[0]

/** The path on which every client is answered in parts. Requests to it go on to that of GraphQL. */
export class DeferEndpoint {
  readonly #given: string | undefined
  #path: string
  #graphqlPath = '/graphql'

  /** @param given Its path. Default: `/defer` behind that of GraphQL. */
  constructor(given: string | undefined) {
    this.#given = given
    this.#path = given ?? '/graphql/defer'
  }

  /** The path at which the server has GraphQL. */
  standBehind(graphqlPath: string): void {
    this.#graphqlPath = graphqlPath
    this.#path = this.#given ?? `${graphqlPath.replace(/\/$/, '')}/defer`
  }

  /** True: the request asks for an operation on this path, and goes on. One that asks for none is answered. */
  take({ request, url, fetchAPI, setRequest, endResponse }: Omit<RequestPayload, 'serverContext'>): boolean {
    if (!request.url.includes(this.#path)) return false
    const target = new fetchAPI.URL(request.url, 'http://localhost')
    if (target.pathname !== this.#path) return false
    if (request.method !== 'POST') {
      endResponse(new fetchAPI.Response(null, { status: 405, headers: { Allow: 'POST' } }))
      return false
    }
    target.pathname = this.#graphqlPath
    setRequest(withUrl(request, target.toString()))
    // Yoga's routing looks at both; `url` is made from the request unless an earlier hook has looked at it.
    if (url instanceof fetchAPI.URL) url.pathname = this.#graphqlPath
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
