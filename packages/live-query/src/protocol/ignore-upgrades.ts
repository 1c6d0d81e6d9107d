import { createAttachment } from '@vinyasa/core'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Whether a request with `Upgrade` asks for a WebSocket (RFC 6455, section 4.2.1). */
export function asksForWebSocket({ headers }: IncomingMessage): boolean {
  return tokensOf(headers.upgrade ?? '').includes('websocket')
}

export interface IgnoredUpgrades {
  /** Call for each request, before it is answered. */
  track(request: IncomingMessage, response: ServerResponse): void
  /** Call for a request whose upgrade is not taken. */
  serve(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

/**
 * Serves requests as if they had not asked for another protocol, as RFC 9110, section 7.8 lets a server do: Java's client
 * asks for `h2c`. Node has given the connection up by then, so it is given to the server again, with the request, which
 * no longer asks, in front of what else has come.
 */
export function ignoreUpgrades(server: Server): IgnoredUpgrades {
  /** The last response of each connection: what is behind it waits for it. */
  const latest = createAttachment<ServerResponse>()

  function giveBack(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Node's limit for idle connections was set for what it gave up.
    if (socket instanceof Socket) socket.setTimeout(0)
    socket.unshift(Buffer.concat([headOf(request), head]))
    server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket)
  }

  return {
    track: ({ socket }, response) => void latest.set(socket, response),
    serve(request, socket, head) {
      const before = latest.get(socket)
      // Node listens to its connections alone: one that breaks off between two owners would end the process.
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
