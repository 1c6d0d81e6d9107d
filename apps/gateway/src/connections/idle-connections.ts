import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * An idle connection is open for so much longer than its client was told: a request that the client sends in the last
 * moment is on its way for a while, and would find the connection closed.
 */
const ON_THE_WAY_MS = 1_000

/** Closes connections that are idle for longer than the server's `keepAliveTimeout`, which clients are told. */
export function closeIdleConnections(server: Server): void {
  // Node leaves to the listener what becomes of the connection. A request that comes ends the second wait as well.
  server.on('timeout', (socket: Socket) => {
    if (socket.timeout === ON_THE_WAY_MS) socket.destroy()
    else socket.setTimeout(ON_THE_WAY_MS)
  })
}
