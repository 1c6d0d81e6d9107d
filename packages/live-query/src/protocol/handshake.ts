import { STATUS_CODES, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { isRecord } from '@vinyasa/core'
import type { Handshake, LiveConnection } from './live-socket.ts'

/** Headers that speak of the socket, not of the operations on it. */
const OF_THE_SOCKET = /^(connection|upgrade|keep-alive|transfer-encoding|content-length|sec-websocket-.*)$/

/** Returns what is kept of an upgrade request; the request itself may go. */
export function handshakeOf(request: IncomingMessage): Omit<Handshake, 'client'> {
  const headers = new Headers()
  // Not `headersDistinct`: before 20.20.2 Node throws there where a client names a header `__proto__`.
  const { rawHeaders } = request
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2)
    if (OF_THE_SOCKET.test(name.toLowerCase())) continue
    try {
      headers.append(name, value)
    } catch {
      // Node's parser lets more through than is a header, as a space before the colon: it is none then.
    }
  }
  return { url: urlOf(request), headers, encrypted: isEncrypted(request) }
}

function isEncrypted({ socket }: IncomingMessage): boolean {
  return 'encrypted' in socket
}

function urlOf(request: IncomingMessage): string {
  const scheme = isEncrypted(request) ? 'https' : 'http'
  const { url = '/', headers } = request
  // The client may send any `Host`: one that is none changes nothing of the path.
  const base = [headers.host, 'localhost'].map((host) => `${scheme}://${host}`)
  const found = base.find((origin) => URL.canParse(url, origin))
  return found === undefined ? `${scheme}://localhost/` : new URL(url, found).href
}

/**
 * The headers of an execution: those of the upgrade, and what `connection_init`, or the operation's own `extensions`,
 * gave in place of some of them.
 */
export function requestHeadersOf(
  { headers, connectionParams }: LiveConnection,
  connectionHeaders: readonly string[],
  extensions?: unknown,
): Headers {
  if (!connectionParams && !extensions) return headers
  const result = new Headers(headers)
  for (const given of [connectionParams, extensions].flatMap(withHeaders)) {
    for (const name of Object.keys(given)) {
      const value = given[name]
      if (typeof value !== 'string' || !connectionHeaders.includes(name.toLowerCase())) continue
      try {
        result.set(name, value)
      } catch {
        // Not a header value: then it is none, and what needs it will say that it is missing.
      }
    }
  }
  return result
}

/** Returns the `headers` of an object and the object itself, whose members win. */
function withHeaders(given: unknown): readonly Readonly<Record<string, unknown>>[] {
  return isRecord(given) ? [given['headers'], given].filter(isRecord) : []
}

/**
 * Answers an upgrade with a status and lets go of the socket. `why` is for whoever looks at the answer: browsers show pages
 * none of it. The socket emits `refused` with the status, for a server that counts refusals.
 */
export function refuseUpgrade(socket: Duplex, status: number, why: string = ''): void {
  // Without a listener a client's reset would end the process.
  socket.on('error', () => {})
  // Node has let go of the socket, and a client that keeps its half open would keep it for ever.
  socket.once('finish', () => socket.destroy())
  socket.emit('refused', status)
  const type = why === '' ? '' : 'Content-Type: text/plain; charset=utf-8\r\n'
  const later = status === 503 ? 'Retry-After: 1\r\n' : ''
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\n${later}${type}`
  socket.end(`${head}Content-Length: ${Buffer.byteLength(why)}\r\n\r\n${why}`)
}
