import { backgroundClock, type Clock } from '@vinyasa/core'
import { Socket } from 'node:net'

/** How long a client may go on sending once its last answer has left, and for how long it may keep its side open. */
export const MAX_LINGER_MS = 5_000
/** Limit in bytes of what it may send behind its answer, as fast as it likes. */
export const MAX_LINGER_BYTES: number = 16 * 1024 * 1024

/**
 * Ends the connection of a client that may still send (RFC 9112, section 9.6): says so, and takes and drops what comes
 * until the client has ended its side too. Of a socket that is closed with bytes unread the kernel resets the connection,
 * and a client that learns this from a write throws away the answer that it has not read.
 */
export function linger(socket: Socket, clock: Clock = backgroundClock): void {
  let bytes = 0
  let timer: unknown
  const limit = (): void => {
    timer = clock.setTimeout(() => socket.destroy(), MAX_LINGER_MS)
  }
  // The listeners so far would take it for requests, or have read enough of them.
  for (const event of ['data', 'resume']) socket.removeAllListeners(event)
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_LINGER_BYTES) socket.destroy()
  })
  socket.once('end', () => closeOnceSent(socket))
  socket.once('close', () => clock.clearTimeout(timer))
  // While the answer is being sent, the deadline for that counts.
  if (socket.writableFinished) limit()
  else socket.once('finish', limit)
  socket.end()
  if (socket.readableEnded) return closeOnceSent(socket)
  // A stream that HTTP has stopped from outside waits for the read that it has asked for: this answers it.
  socket.push('')
  socket.resume()
}

/** Does what `destroySoon` of a socket does by itself: closes it once all is sent. */
export function closeOnceSent(socket: Socket): void {
  Socket.prototype.destroySoon.call(socket)
}
