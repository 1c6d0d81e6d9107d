import type { FetchAPI } from 'graphql-yoga'

/** A URL that is parsed when it is first looked at: most hooks get one and never do. */
export function lazyUrl(fetchAPI: FetchAPI, href: () => string): URL {
  let url: URL | undefined
  const parsed = (): URL => (url ??= new fetchAPI.URL(href(), 'http://localhost'))
  return new Proxy<URL>(Object.create(fetchAPI.URL.prototype) as URL, {
    get(_target, name) {
      const value: unknown = Reflect.get(parsed(), name)
      return typeof value === 'function' ? value.bind(parsed()) : value
    },
    set: (_target, name, value) => Reflect.set(parsed(), name, value),
    has: (_target, name) => Reflect.has(parsed(), name),
  })
}
