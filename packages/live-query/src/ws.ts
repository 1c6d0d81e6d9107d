import { processLedger } from '@vinyasa/base'
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { handshakeOf, refuseUpgrade } from './protocol/handshake.ts'
import { asksForWebSocket, ignoreUpgrades } from './protocol/ignore-upgrades.ts'
import { createOriginCheck, createOriginRefusal } from './protocol/origins.ts'
import { refuseWrong, reportError } from './errors.ts'
import { LIVE_SERVER_OPTIONS, type LiveServerOptions } from './ws/live-server-options.ts'
import { LiveSockets } from './ws/live-sockets.ts'

export { createFairTurns, type FairTurns } from './fair-turns.ts'
export type { Turns } from './turns/line.ts'
export { refuseUpgrade } from './protocol/handshake.ts'
export type { AllowedOrigins } from './protocol/origins.ts'
export { asksForWebSocket, ignoreUpgrades } from './protocol/ignore-upgrades.ts'
export type { LiveServerOptions } from './ws/live-server-options.ts'

export interface LiveServer {
  /** How many sockets are open. */
  readonly sockets: number
  /** Takes no more sockets and closes the open ones with 1001; resolves when all are gone, after `timeoutMs` by force. */
  close(timeoutMs?: number): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Serves live queries, and everything else of GraphQL, over WebSocket on a Node HTTP server. Requests that ask for another
 * protocol, as Java's client does, are served as if they had not, unless the server has another listener for upgrades.
 */
export function attachLiveServer(server: Server, options: LiveServerOptions): LiveServer {
  refuseWrong(options, LIVE_SERVER_OPTIONS)
  const { path = '/graphql/live', allowedOrigins = [] } = options
  const { clientOf = ({ socket }) => socket.remoteAddress ?? '' } = options
  const { turns } = options.plugin.engine
  const sockets = new LiveSockets(options)
  const mayConnect = createOriginCheck(allowedOrigins)
  const refusalOf = createOriginRefusal(options.onError ?? reportError)
  const ignored = ignoreUpgrades(server)

  function onUpgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    if (!asksForWebSocket(request)) {
      if (server.listenerCount('upgrade') === 1) ignored.serve(request, stream, head)
      return
    }
    const client = clientOf(request)
    const handshake = { ...handshakeOf(request), client }
    if (new URL(handshake.url).pathname !== path) {
      // Another listener may serve that path; without one the socket would wait for ever.
      if (server.listenerCount('upgrade') === 1) refuseUpgrade(stream, 404)
      return
    }
    if (sockets.isClosing || processLedger().isFull) return refuseUpgrade(stream, 503)
    if (!mayConnect(handshake)) return refuseUpgrade(stream, 403, refusalOf(handshake))
    turns.makeWay()
    const line = turns.open(client)
    // Node has let go of the socket, and one that breaks off before its turn must not end the process.
    stream.once('error', () => stream.destroy())
    line.run(() => {
      if (sockets.isClosing) return refuseUpgrade(stream, 503)
      sockets.open({ request, stream, head, handshake, turns: line })
    })
  }

  async function close(timeoutMs = 1000): Promise<void> {
    await sockets.close(timeoutMs)
    server.off('upgrade', onUpgrade).off('request', ignored.track)
  }

  server.on('upgrade', onUpgrade).prependListener('request', ignored.track)
  return {
    get sockets() {
      return sockets.size
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  }
}
