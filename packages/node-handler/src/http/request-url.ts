import type { IncomingMessage } from 'node:http'
import type { FetchAPI } from 'graphql-yoga'

/** Returns the full URL of a request as Yoga builds it. `host` is the `Host` header. */
export function urlOf(
  { socket, url: sent }: IncomingMessage,
  host: string | undefined,
  url: string | undefined = sent,
): string {
  const protocol = 'encrypted' in socket && socket.encrypted ? 'https' : 'http'
  return `${protocol}://${host || hostOf(socket)}${url || '/graphql'}`
}

/** HTTP/1.0 clients can omit `Host`. */
function hostOf({ localAddress, localPort }: IncomingMessage['socket']): string {
  const plain = localAddress && !localAddress.includes('::') && !localAddress.includes('ffff')
  return plain ? `${localAddress}:${localPort || 80}` : 'localhost'
}

interface Target {
  readonly fetchAPI: FetchAPI
  readonly request: { readonly url: string }
  parsed?: URL
}

/** Returns a URL that is parsed on first use. Most hooks receive a URL and never use it. */
export function lazyUrl(fetchAPI: FetchAPI, request: { readonly url: string }): URL {
  return new Proxy({ fetchAPI, request } as Target, handler) as unknown as URL
}

const handler: ProxyHandler<Target> = {
  get(target, name) {
    const url = parsed(target)
    const value: unknown = Reflect.get(url, name)
    return typeof value === 'function' ? value.bind(url) : value
  },
  set: (target, name, value) => Reflect.set(parsed(target), name, value),
  has: (target, name) => Reflect.has(parsed(target), name),
  getPrototypeOf: ({ fetchAPI }) => fetchAPI.URL.prototype as object,
}

function parsed(target: Target): URL {
  return (target.parsed ??= new target.fetchAPI.URL(target.request.url, 'http://localhost'))
}
