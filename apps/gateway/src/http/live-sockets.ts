import { createServer, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { LiveQueryPlugin } from '@vinyasa/live-query'
import { attachLiveServer, type AllowedOrigins, type LiveServerOptions } from '@vinyasa/live-query/ws'
import type { SocketLimitsConfig } from './http-types.ts'
import type { Logger } from '../logging/logger.ts'
import { pathnameOf } from './pathname.ts'
import { refuseUpgrade } from './refuse-upgrade.ts'

export interface LiveSocketsOptions {
  readonly plugin: LiveQueryPlugin
  /** Paths where WebSockets are served. */
  readonly paths: readonly string[]
  readonly logger: Logger
  /** Pages of other origins that may connect. Default: none. */
  readonly allowedOrigins?: AllowedOrigins | undefined
  /** Default: those of `attachLiveServer`. */
  readonly limits?: SocketLimitsConfig | undefined
  /**
   * Names the client whose share of the event loop the sockets of a request have. Default: the address that
   * connects.
   */
  readonly clientOf?: LiveServerOptions['clientOf']
  /** Says who may connect, and what of `connection_init` are headers. Default: anyone; `authorization`. */
  readonly access?: Pick<LiveServerOptions, 'onConnect' | 'connectionHeaders'> | undefined
}

export interface LiveSockets {
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** Closes every socket with 1001; safe to call twice. */
  close(): Promise<void>
}

/**
 * The WebSocket door of one gateway. It listens on a server of its own that takes no connections, so that a
 * reload can hand upgrades from one gateway to the next at one moment.
 */
export function createLiveSockets({
  plugin,
  paths,
  logger,
  allowedOrigins,
  limits = {},
  clientOf,
  access = {},
}: LiveSocketsOptions): LiveSockets {
  const hub = createServer()
  const servers = paths.map((path) =>
    attachLiveServer(hub, {
      ...limits,
      ...access,
      plugin,
      path,
      allowedOrigins,
      clientOf,
      onError: (error) => logger.error(error, 'live socket'),
    }),
  )
  let closed: Promise<unknown> | undefined

  return {
    handleUpgrade(request, socket, head) {
      // Node leaves the socket without a listener; without one, a client's reset would end the process.
      socket.on('error', () => {})
      if (paths.includes(pathnameOf(request))) hub.emit('upgrade', request, socket, head)
      else refuseUpgrade(socket, 404)
    },
    async close() {
      closed ??= Promise.all(servers.map((server) => server.close()))
      await closed
    },
  }
}
