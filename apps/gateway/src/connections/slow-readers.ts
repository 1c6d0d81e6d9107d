import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from '../logging/logger.ts'

export interface SlowReadersOptions {
  /** How long an answer may wait without a byte leaving. 0: for ever. */
  readonly sendTimeoutMs: number
  /** Bytes that may wait on all connections; over it, those go first that have not moved for a second. 0: any number. */
  readonly maxUnsentBytes: number
  /** Bytes of a connection that wait behind those in its socket. */
  readonly bytesBehind: (socket: Socket) => number
  readonly logger?: Logger | undefined
}

interface Watched {
  /** The result of `progressOf` when it was last looked at. */
  progress: string
  /** For how long nothing has left although something waits. */
  stillMs: number
  waiting: number
}

const LOOK_EVERY_MS = 1_000

/**
 * Cuts off connections whose clients do not read: answers of any kind, event streams and WebSockets among them, hold
 * memory until they are sent. One look a second at every connection; nothing is done for an answer by itself.
 */
export function dropSlowReaders(server: Server, options: SlowReadersOptions): void {
  const { bytesBehind, logger } = options
  const sendTimeoutMs = options.sendTimeoutMs || Number.POSITIVE_INFINITY
  const maxUnsentBytes = options.maxUnsentBytes || Number.POSITIVE_INFINITY
  const sockets = new Map<Socket, Watched>()

  server.on('connection', (socket: Socket) => {
    // One whose upgrade was ignored comes again.
    if (sockets.has(socket)) return
    sockets.set(socket, { progress: '', stillMs: 0, waiting: 0 })
    socket.once('close', () => sockets.delete(socket))
  })

  function look(): void {
    let unsent = 0
    const still: (readonly [Socket, Watched])[] = []
    for (const [socket, watched] of sockets) {
      watched.waiting = socket.writableLength
      if (watched.waiting > 0) {
        watched.waiting += bytesBehind(socket)
        const progress = progressOf(socket)
        watched.stillMs = progress === watched.progress ? watched.stillMs + LOOK_EVERY_MS : 0
        watched.progress = progress
        unsent += watched.waiting
        if (watched.stillMs > 0) still.push([socket, watched])
      } else if (watched.stillMs > 0) watched.stillMs = 0
    }
    const dropped = drop(still, unsent)
    if (dropped > 0) logger?.warn({ dropped, unsent }, 'connections were cut: their clients do not read')
  }

  function drop(still: (readonly [Socket, Watched])[], unsent: number): number {
    let dropped = 0
    let left = unsent
    for (const [socket, { stillMs, waiting }] of still.toSorted(([, a], [, b]) => b.waiting - a.waiting)) {
      if (stillMs < sendTimeoutMs && left <= maxUnsentBytes) continue
      socket.destroy()
      left -= waiting
      dropped++
    }
    return dropped
  }

  const timer = setInterval(look, LOOK_EVERY_MS).unref()
  server.once('close', () => clearInterval(timer))
}

/**
 * The bytes that libuv still has of a write that is under way; Node itself asks for them before a socket
 * times out.
 */
interface SocketInsides {
  readonly _handle?: { readonly writeQueueSize?: number } | null
}

/** Differs whenever a byte has left; grows with nothing that is only added. */
function progressOf(socket: Socket): string {
  const { _handle: handle } = socket as SocketInsides
  return `${socket.bytesWritten - socket.writableLength} ${handle?.writeQueueSize}`
}
