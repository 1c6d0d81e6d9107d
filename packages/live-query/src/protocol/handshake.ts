import { STATUS_CODES, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { isRecord } from '@vinyasa/core'
import type { Handshake, LiveConnection } from './live-socket.ts'

/** Headers that describe the socket instead of its operations. */
const OF_THE_SOCKET = /^(connection|upgrade|keep-alive|transfer-encoding|content-length|sec-websocket-.*)$/

/** Returns the data of an upgrade request, so that the request itself is not kept. */
export function handshakeOf(request: IncomingMessage): Omit<Handshake, 'client'> {
  const headers = new Headers()
  // `headersDistinct` is not used, because Node before 20.20.2 throws for a header with the name `__proto__`.
  const { rawHeaders } = request
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2)
    if (OF_THE_SOCKET.test(name.toLowerCase())) continue
    try {
      headers.append(name, value)
    } catch {
      // Node's parser accepts some invalid headers, such as names with a space before the colon. They are ignored.
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
  // The client can send any `Host`. An invalid host does not change the path.
  const base = [headers.host, 'localhost'].map((host) => `${scheme}://${host}`)
  const found = base.find((origin) => URL.canParse(url, origin))
  return found === undefined ? `${scheme}://localhost/` : new URL(url, found).href
}

/**
 * Returns the headers of an execution: those of the upgrade request, overridden by `connection_init` and by the
 * `extensions` of the operation.
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
        // An invalid value is ignored. Code that needs the header then reports it as missing.
      }
    }
  }
  return result
}

/** Returns the `headers` of an object and the object itself, whose properties take precedence. */
function withHeaders(given: unknown): readonly Readonly<Record<string, unknown>>[] {
  return isRecord(given) ? [given['headers'], given].filter(isRecord) : []
}

/**
 * Responds to an upgrade request with a status and releases the socket. `why` is the response body; browsers do not
 * show it to pages. The socket emits `refused` with the status, for servers that count refusals.
 */
export function refuseUpgrade(socket: Duplex, status: number, why: string = ''): void {
  // Without a listener, a reset by the client would end the process.
  socket.on('error', () => {})
  // Node no longer manages the socket. Without this listener, a half-open connection would be kept forever.
  socket.once('finish', () => socket.destroy())
  socket.emit('refused', status)
  const type = why === '' ? '' : 'Content-Type: text/plain; charset=utf-8\r\n'
  const later = status === 503 ? 'Retry-After: 1\r\n' : ''
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\n${later}${type}`
  socket.end(`${head}Content-Length: ${Buffer.byteLength(why)}\r\n\r\n${why}`)
}
