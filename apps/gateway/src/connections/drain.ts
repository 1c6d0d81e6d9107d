import { sleep, systemClock } from '@vinyasa/base'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'

/**
 * Load balancers notice only after a moment that this server is leaving. Were it to stop listening at once,
 * connections that the kernel has accepted, and requests on their way over idle ones, would be reset. So it
 * goes on until no request has come for this long …
 */
const QUIET_MS = 1_000
/** … but no longer than this. */
const MAX_LINGER_MS = 5_000

export interface DrainSettings {
  /** Knows the targets of health probes. */
  readonly isProbe: (url: string | undefined) => boolean
  /** Requests in flight, among them all tracked ones whose answers have no head yet. */
  readonly inFlight: Iterable<{ readonly response: ServerResponse }>
  /** Stops listening; resolves when no connection is left. */
  readonly stop: () => Promise<void>
}

export interface Drain {
  /** Call for each request, before it is answered. */
  track(request: IncomingMessage, response: ServerResponse): void
  /** Number of open connections. */
  connections(): number
  /** Call when a tracked response has closed. */
  release(): void
  /**
   * Answers with `Connection: close` from now on, stops listening once no more requests come, lets those in flight
   * end, and resolves when no connection is left. Health probes do not count as requests. The signal ends the wait: open
   * connections are then destroyed.
   */
  close(signal: AbortSignal): Promise<void>
}

/** Graceful stop for one HTTP server. */
export function createDrain(server: Server, { isProbe, inFlight, stop }: DrainSettings): Drain {
  const sockets = new Set<Socket>()
  let draining = false
  let listening = true
  let lastRequestAt = Number.NEGATIVE_INFINITY

  server.on('connection', (socket) => {
    // One whose upgrade was ignored comes again.
    if (sockets.has(socket)) return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  async function quiet(signal: AbortSignal): Promise<void> {
    const latest = systemClock.now() + MAX_LINGER_MS
    for (;;) {
      const wait = Math.min(latest, lastRequestAt + QUIET_MS) - systemClock.now()
      if (signal.aborted) return
      // An abort ends the wait, and the next turn the loop.
      if (wait > 0) await sleep(systemClock, wait, signal)
      else if ((await isQuiet()) || systemClock.now() > latest) return
    }
  }

  /** On a busy machine the timer may be first, and requests that came long ago be waiting behind it. */
  async function isQuiet(): Promise<boolean> {
    const before = lastRequestAt
    for (let turn = 0; turn < 5; turn++) await setImmediate()
    return lastRequestAt === before
  }

  return {
    track({ url }, response) {
      if (!isProbe(url)) lastRequestAt = systemClock.now()
      if (draining) response.setHeader('connection', 'close')
    },
    connections: () => sockets.size,
    release() {
      if (!listening) server.closeIdleConnections()
    },
    async close(signal) {
      draining = true
      for (const { response } of inFlight) {
        if (!response.headersSent) response.setHeader('connection', 'close')
      }
      await quiet(signal)
      listening = false
      const closed = stop()
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
