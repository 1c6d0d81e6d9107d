import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface DrainOptions {
  /** Ends the wait for requests in flight: open connections are then destroyed. */
  readonly signal: AbortSignal
}

export interface Drain {
  /** Call for each request, before it is answered. */
  track(response: ServerResponse): void
  /**
   * Stops listening, lets requests in flight end (their answers carry `Connection: close`), closes idle
   * keep-alive connections at once, and resolves when no connection is left.
   */
  close(options: DrainOptions): Promise<void>
}

/** Graceful stop for one HTTP server. */
export function createDrain(server: Server): Drain {
  const sockets = new Set<Socket>()
  const inFlight = new Set<ServerResponse>()
  let draining = false

  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  return {
    track(response) {
      if (draining) response.setHeader('connection', 'close')
      inFlight.add(response)
      response.once('close', () => {
        inFlight.delete(response)
        if (draining) server.closeIdleConnections()
      })
    },
    async close({ signal }) {
      draining = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const response of inFlight) {
        if (!response.headersSent) response.setHeader('connection', 'close')
      }
      server.closeIdleConnections()
      const force = (): void => {
        for (const socket of sockets) socket.destroy()
      }
      if (signal.aborted) force()
      else signal.addEventListener('abort', force, { once: true })
      await closed
      signal.removeEventListener('abort', force)
    },
  }
}
