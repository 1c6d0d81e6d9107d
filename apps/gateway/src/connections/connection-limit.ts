import { backgroundClock } from '@vinyasa/core'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from '../logging/logger.ts'
import { readFileSync } from 'node:fs'

/**
 * Share of the files that the process may have open that is left for backends, logs and what Node itself
 * opens.
 */
const LEFT_FOR_OTHERS = 1 / 4

/**
 * Connections that there are file descriptors for; undefined where the system does not say (it does on Linux). A process
 * without descriptors accepts nobody, and reaches no backend.
 */
export function connectionsPossible(limits: string = readLimits()): number | undefined {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? []
  return soft === undefined ? undefined : Math.max(1, Math.floor(Number(soft) * (1 - LEFT_FOR_OTHERS)))
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'latin1')
  } catch {
    return ''
  }
}

export interface ConnectionLimitOptions {
  /** 0: as many as there are file descriptors for. WebSockets and event streams count as long as they are open. */
  readonly maxConnections: number
  /** The part of them that one address may have. */
  readonly addressShare: number
  /** Connections of proxies are those of many clients. */
  readonly isProxy: (address: string) => boolean
  /** Since when a connection has no request; undefined: it has one. `openedAt` for one that never had any. */
  readonly idleSince: (socket: Socket, openedAt: number) => number | undefined
  readonly logger?: Logger | undefined
  /** Default: what the system says. */
  readonly possible?: number | undefined
}

export interface ConnectionLimit {
  /** Call for a connection that is no longer one of HTTP: it is never idle. */
  keep(socket: Socket): void
}

interface Open {
  readonly openedAt: number
  isKept: boolean
  /** Since when it was idle when it was last looked at. */
  idleSince: number | undefined
}

/** Closed and refused connections are logged together, once in so long. */
const REPORT_MS = 1_000
/** Pause before anybody idle is looked for again, after nobody was found. */
const LOOK_AGAIN_MS = 50

/**
 * Keeps the number of connections under a limit: for a new one an idle one is closed; where none is, the new one. Which
 * one is chosen by second chance (the CLOCK algorithm): one that was used since it was last looked at is passed over
 * once, so those that have been idle for longest go first, and nothing is done for a request. One address has a share of
 * the connections at most.
 */
export function limitConnections(server: Server, options: ConnectionLimitOptions): ConnectionLimit {
  const { addressShare, isProxy, idleSince, logger, possible = connectionsPossible() } = options
  const asked = options.maxConnections || Number.POSITIVE_INFINITY
  const maxConnections = Math.min(asked, possible ?? Number.POSITIVE_INFINITY)
  const ofOneAddress = addressShare < 1 ? maxConnections * addressShare : Number.POSITIVE_INFINITY
  const open = new Map<Socket, Open>()
  const byAddress = new Map<string, number>()
  const seen = { refused: 0, closed: 0 }
  let foundNobodyAt = Number.NEGATIVE_INFINITY

  if (maxConnections < asked && options.maxConnections > 0)
    logger?.warn(
      { maxConnections, asked },
      'server.maxConnections exceeds the number of connections that the open-file limit allows, so the gateway accepts fewer connections; raise the open-file limit (ulimit -n)',
    )

  function report(): void {
    logger?.warn(
      { ...seen, maxConnections },
      'connections were refused, or closed while idle, because the connection limit is reached (server.maxConnections or the open-file limit, or server.maxAddressShare for one client address)',
    )
    seen.refused = 0
    seen.closed = 0
  }

  function count(what: 'refused' | 'closed', socket: Socket): void {
    if (seen.refused + seen.closed === 0) backgroundClock.setTimeout(report, REPORT_MS)
    seen[what]++
    socket.destroy()
  }

  /**
   * Returns a connection that has been idle for longest, if there is one. Those that stay go to the end of
   * the line.
   */
  function longestIdle(): Socket | undefined {
    const now = backgroundClock.now()
    if (now - foundNobodyAt < LOOK_AGAIN_MS) return undefined
    // Each is passed over once at most; those at the end of the line come again in this loop.
    let left = 2 * open.size
    for (const [socket, one] of open) {
      if (left-- === 0) break
      const since = one.isKept ? undefined : idleSince(socket, one.openedAt)
      if (since !== undefined && since === one.idleSince) return socket
      one.idleSince = since
      open.delete(socket)
      open.set(socket, one)
    }
    foundNobodyAt = now
    return undefined
  }

  function hasShare(address: string): boolean {
    return (byAddress.get(address) ?? 0) < ofOneAddress || isProxy(address)
  }

  function add(socket: Socket, address: string): void {
    byAddress.set(address, (byAddress.get(address) ?? 0) + 1)
    const openedAt = backgroundClock.now()
    open.set(socket, { openedAt, isKept: false, idleSince: openedAt })
    socket.once('close', () => {
      open.delete(socket)
      const left = (byAddress.get(address) ?? 1) - 1
      if (left > 0) byAddress.set(address, left)
      else byAddress.delete(address)
    })
  }

  if (maxConnections < Number.POSITIVE_INFINITY)
    server.on('connection', (socket: Socket) => {
      // One whose upgrade was ignored comes again.
      if (open.has(socket)) return
      const address = socket.remoteAddress ?? ''
      if (!hasShare(address)) return count('refused', socket)
      if (open.size >= maxConnections) {
        const idle = longestIdle()
        if (!idle) return count('refused', socket)
        // Its 'close' comes later; its file descriptor is free at once.
        open.delete(idle)
        count('closed', idle)
      }
      add(socket, address)
    })

  return {
    keep(socket) {
      const one = open.get(socket)
      if (one) one.isKept = true
    },
  }
}
