import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { Socket } from 'node:net'
import { createAttachment, isRecord } from '@vinyasa/core'
import type { Handshake, LiveConnection } from './messages.ts'

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

/** Returns whether a request with `Upgrade` requests a WebSocket (RFC 6455, section 4.2.1). */
export function asksForWebSocket({ headers }: IncomingMessage): boolean {
  return tokensOf(headers.upgrade ?? '').includes('websocket')
}

interface IgnoredUpgrades {
  /** Must be called for each request before its response. */
  track(request: IncomingMessage, response: ServerResponse): void
  /** Must be called for a request whose upgrade is not accepted. */
  serve(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

/**
 * Serves requests as if they had no `Upgrade` header, which RFC 9110, section 7.8 allows. Java's client requests `h2c`.
 * Node has released the connection at that point. The connection is therefore passed to the server again, with the
 * changed request before the other received bytes.
 */
export function ignoreUpgrades(server: Server): IgnoredUpgrades {
  /** The last response of each connection. Later responses wait for it. */
  const latest = createAttachment<ServerResponse>()

  function giveBack(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // The released connection still has Node's timeout for idle connections.
    if (socket instanceof Socket) socket.setTimeout(0)
    socket.unshift(Buffer.concat([headOf(request), head]))
    server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket)
  }

  return {
    track: ({ socket }, response) => void latest.set(socket, response),
    serve(request, socket, head) {
      const before = latest.get(socket)
      // Node listens only to its own connections. An error between two owners would end the process.
      const onError = (): void => {}
      socket.on('error', onError)
      const serve = (): void => {
        if (socket.destroyed) return
        giveBack(request, socket, head)
        socket.off('error', onError)
      }
      if (!before || before.writableFinished || before.destroyed) serve()
      else before.once('close', serve)
    },
  }
}

function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name, value] = [rawHeaders[index] as string, rawHeaders[index + 1] as string]
    const kept = keptOf(name.toLowerCase(), value)
    if (kept !== undefined) lines.push(`${name}: ${kept}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

const OF_UPGRADES: ReadonlySet<string> = new Set(['upgrade', 'http2-settings'])

function keptOf(name: string, value: string): string | undefined {
  if (OF_UPGRADES.has(name)) return undefined
  if (name !== 'connection') return value
  return (
    tokensOf(value)
      .filter((token) => !OF_UPGRADES.has(token))
      .join(', ') || undefined
  )
}

function tokensOf(value: string): string[] {
  return value.split(',').map((token) => token.trim().toLowerCase())
}
