import { createServer, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { attachLiveServer, type LiveServerOptions, refuseUpgrade } from '@vinyasa/live-query/ws'
import type { Logger } from '../logging/logger.ts'
import { pathnameOf } from './pathname.ts'

export interface LiveSocketsOptions extends Omit<LiveServerOptions, 'path' | 'onError' | 'clock'> {
  /** Paths where WebSockets are served. */
  readonly paths: readonly string[]
  readonly logger: Logger
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
export function createLiveSockets({ paths, logger, ...options }: LiveSocketsOptions): LiveSockets {
  const hub = createServer()
  const servers = paths.map((path) =>
    attachLiveServer(hub, {
      ...options,
      path,
      onError: (error) =>
        isOriginRefused(error)
          ? logger.warn(
              error,
              'WebSocket refused because its origin is not allowed; add the origin to liveQuery.allowedOrigins, or to graphql.cors if liveQuery.allowedOrigins is not set',
            )
          : logger.error(error, 'live socket failed'),
    }),
  )
  let closed: Promise<unknown> | undefined

  return {
    handleUpgrade(request, socket, head) {
      // Node leaves the socket without a listener; without one, a client's reset would end the process.
      socket.on('error', () => {})
      if (paths.includes(pathnameOf(request.url ?? '/'))) hub.emit('upgrade', request, socket, head)
      else refuseUpgrade(socket, 404)
    },
    async close() {
      closed ??= Promise.all(servers.map((server) => server.close()))
      await closed
    },
  }
}

/** Whoever asks may be a stranger's page. */
function isOriginRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'LIVE_QUERY_ORIGIN'
}
