import { processLedger } from '@vinyasa/core'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from '../logging/logger.ts'
import type { ConnectionGate } from './connection-gate.ts'

export interface SlowReadersOptions extends Pick<ConnectionGate, 'countUnsent'> {
  /** How long an answer may wait without a byte leaving. 0: for ever. */
  readonly sendTimeoutMs: number
  readonly logger?: Logger | undefined
}

interface Watched {
  /** The result of `progressOf` when it was last looked at. */
  progress: string
  /** For how long nothing has left although something waits. */
  stillMs: number
}

const LOOK_EVERY_MS = 1_000

/**
 * Closes connections whose clients do not read: answers of any kind, event streams and WebSockets among them, hold memory
 * until they are sent. Looks at every connection once a second, and counts in the ledger what it has not sent.
 */
export function dropSlowReaders(server: Server, options: SlowReadersOptions): void {
  const { countUnsent, logger } = options
  const sendTimeoutMs = options.sendTimeoutMs || Number.POSITIVE_INFINITY
  const sockets = new Map<Socket, Watched>()
  let seen = processLedger().dropped

  server.on('connection', (socket: Socket) => {
    // One whose upgrade was ignored comes again.
    if (sockets.has(socket)) return
    sockets.set(socket, { progress: '', stillMs: 0 })
    socket.once('close', () => sockets.delete(socket))
  })

  function look(): void {
    let closed = 0
    for (const [socket, watched] of sockets) {
      countUnsent(socket)
      const progress = socket.writableLength > 0 ? progressOf(socket) : ''
      const isStill = progress !== '' && progress === watched.progress
      watched.stillMs = isStill ? watched.stillMs + LOOK_EVERY_MS : 0
      watched.progress = progress
      if (watched.stillMs < sendTimeoutMs) continue
      socket.destroy()
      closed++
    }
    if (closed > 0)
      logger?.warn(
        { closed },
        'connections were closed because their clients did not read any data for server.sendTimeoutMs',
      )
    const { dropped, bytes } = processLedger()
    if (dropped > seen) logger?.warn({ dropped: dropped - seen, bytes }, OVER_BUDGET)
    seen = dropped
  }

  const timer = setInterval(look, LOOK_EVERY_MS).unref()
  server.once('close', () => clearInterval(timer))
}

const OVER_BUDGET =
  'the requests, subscriptions and connections that used the most memory were ended because the memory held for clients exceeded a quarter of the heap limit; raise --max-old-space-size if the warning repeats'

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
