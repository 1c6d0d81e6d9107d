import type { FetchAPI } from 'graphql-yoga'

interface Target {
  readonly fetchAPI: FetchAPI
  readonly request: { readonly url: string }
  parsed?: URL
}

/** A URL that is parsed when it is first looked at: most hooks get one and never do. */
export function lazyUrl(fetchAPI: FetchAPI, request: { readonly url: string }): URL {
  return new Proxy({ fetchAPI, request } as Target, handler) as unknown as URL
}

const handler: ProxyHandler<Target> = {
  get(target, name) {
    const url = urlOf(target)
    const value: unknown = Reflect.get(url, name)
    return typeof value === 'function' ? value.bind(url) : value
  },
  set: (target, name, value) => Reflect.set(urlOf(target), name, value),
  has: (target, name) => Reflect.has(urlOf(target), name),
  getPrototypeOf: ({ fetchAPI }) => fetchAPI.URL.prototype as object,
}

function urlOf(target: Target): URL {
  return (target.parsed ??= new target.fetchAPI.URL(target.request.url, 'http://localhost'))
}
