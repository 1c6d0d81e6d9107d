import { backgroundClock } from '@vinyasa/base'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from '../../logging/logger.ts'
import { connectionsPossible } from './open-files.ts'

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
}

interface Idle {
  readonly socket: Socket
  readonly since: number
}

/** Closed and refused connections are logged together, once in so long. */
const REPORT_MS = 1_000
/** Who is idle is looked for among all, for so many at once, and at most so often. */
const LOOKED_FOR = 64
const LOOK_AGAIN_MS = 50

/**
 * Keeps the number of connections under a limit: for a new one the one is closed that has been idle for longest; where
 * none is, the new one. One address has a share of them at most.
 */
export function limitConnections(server: Server, options: ConnectionLimitOptions): ConnectionLimit {
  const { addressShare, isProxy, idleSince, logger, possible = connectionsPossible() } = options
  const asked = options.maxConnections || Number.POSITIVE_INFINITY
  const maxConnections = Math.min(asked, possible ?? Number.POSITIVE_INFINITY)
  const ofOneAddress = addressShare < 1 ? maxConnections * addressShare : Number.POSITIVE_INFINITY
  const open = new Map<Socket, Open>()
  const byAddress = new Map<string, number>()
  const seen = { refused: 0, closed: 0 }
  let oldest: Idle[] = []
  let lookedAt = Number.NEGATIVE_INFINITY

  if (maxConnections < asked && options.maxConnections > 0)
    logger?.warn(
      { maxConnections, asked },
      'server.maxConnections is more than there are file descriptors for; raise the limit of open files',
    )

  function report(): void {
    logger?.warn(
      { ...seen, maxConnections },
      'connections were closed as idle, or refused: server.maxConnections are open',
    )
    seen.refused = 0
    seen.closed = 0
  }

  function count(what: 'refused' | 'closed', socket: Socket): void {
    if (seen.refused + seen.closed === 0) backgroundClock.setTimeout(report, REPORT_MS)
    seen[what]++
    socket.destroy()
  }

  function lookForIdle(): void {
    const now = backgroundClock.now()
    if (now - lookedAt < LOOK_AGAIN_MS) return
    lookedAt = now
    const idle: Idle[] = []
    for (const [socket, { openedAt, isKept }] of open) {
      const since = isKept ? undefined : idleSince(socket, openedAt)
      if (since !== undefined) idle.push({ socket, since })
    }
    oldest = idle.toSorted((a, b) => b.since - a.since).slice(-LOOKED_FOR)
  }

  function oldestIdle(): Socket | undefined {
    if (oldest.length === 0) lookForIdle()
    for (let next = oldest.pop(); next; next = oldest.pop()) {
      const { openedAt, isKept } = open.get(next.socket) ?? { openedAt: 0, isKept: true }
      if (!isKept && idleSince(next.socket, openedAt) === next.since) return next.socket
    }
    return undefined
  }

  function hasShare(address: string): boolean {
    return (byAddress.get(address) ?? 0) < ofOneAddress || isProxy(address)
  }

  function add(socket: Socket, address: string): void {
    byAddress.set(address, (byAddress.get(address) ?? 0) + 1)
    open.set(socket, { openedAt: backgroundClock.now(), isKept: false })
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
        const idle = oldestIdle()
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
