import type { IncomingMessage } from 'node:http'
import { keyedByHeader } from '@vinyasa/core'
import type { FetchAPI } from 'graphql-yoga'

/**
 * Checks the target of a request. Returns the status of the refusal, or `undefined` if the target is valid. A valid
 * target is in origin form afterwards.
 */
type AcceptTarget = (request: IncomingMessage) => 400 | 404 | undefined

/**
 * URL parsers resolve these segments, including encoded segments, so a proxy and the server could see different paths.
 */
const DOT_SEGMENT = /^[^?#]*[/\\](?:\.|%2e){1,2}(?:[/\\?#]|$)/i

/**
 * Creates a check of `Host` and of the request target. `Host` must be a valid host and occur once (RFC 9112, section
 * 3.2), so that it cannot be mistaken for a path. Paths with a `.` or `..` segment get 404. Absolute targets are
 * converted to origin form, and their host replaces the header (section 3.2.2). The served path therefore depends
 * only on the target.
 */
export function acceptTargets(): AcceptTarget {
  const isKnownHost = keyedByHeader((host) => isHost(host))
  return (request) => {
    const { headers, rawHeaders, url = '/' } = request
    const host = headers.host ?? headers[':authority']
    if (host && (typeof host !== 'string' || !isKnownHost(host))) return 400
    if (hasHostTwice(rawHeaders)) return 400
    if (DOT_SEGMENT.test(url)) return 404
    if (url.startsWith('/')) return undefined
    if (url === '*') {
      request.url = '/'
      return undefined
    }
    return bringToOriginForm(request, url) ? undefined : 400
  }
}

/** Every other character starts another part of a URL or is invalid (RFC 3986, section 3.2.2). */
const HOST_CHARACTERS = /^(?:[\w.!$&'()*+,;=~%-]+|\[[\da-f:.]+\])(?::\d{0,5})?$/i

function isHost(host: string): boolean {
  return HOST_CHARACTERS.test(host) && URL.canParse(`http://${host}/`)
}

/** Node keeps the first header, but a proxy could have used another. */
function hasHostTwice(rawHeaders: readonly string[]): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count > 1
}

/**
 * URL parsers need quadratic time for a host with non-ASCII characters. A host has at most 253 characters (RFC 1035).
 */
const ABSOLUTE = /^https?:\/\/[^/?#\\]{1,300}(?:[/?#\\]|$)/i

function bringToOriginForm(request: IncomingMessage, target: string): boolean {
  if (!ABSOLUTE.test(target) || !URL.canParse(target)) return false
  const { host, pathname, search, username, password } = new URL(target)
  if (username !== '' || password !== '') return false
  request.url = `${pathname}${search}`
  request.headers.host = host
  return true
}

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
