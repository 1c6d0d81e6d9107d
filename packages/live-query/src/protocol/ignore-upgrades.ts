import { createAttachment } from '@vinyasa/core'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Returns whether a request with `Upgrade` requests a WebSocket (RFC 6455, section 4.2.1). */
export function asksForWebSocket({ headers }: IncomingMessage): boolean {
  return tokensOf(headers.upgrade ?? '').includes('websocket')
}

export interface IgnoredUpgrades {
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
