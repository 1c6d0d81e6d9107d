import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ShortStream, ShortStreamPart } from './part.ts'

/**
 * Writes an answer whose head is ready: each part in one write, the last one together with the end. The next is asked for
 * when there is room for it, and none when the client has left.
 */
export function sendParts(
  { next, leave }: ShortStream,
  { socket }: IncomingMessage,
  outgoing: ServerResponse,
  onPart: (part: unknown) => void,
): void {
  // As Yoga's door does for streams: time may pass between two parts, and a small one is not held back.
  if (socket.timeout) socket.setTimeout(0)
  socket.setNoDelay(true)
  // Without its delay, Node asks the kernel again each time.
  socket.setKeepAlive(true, 0)
  outgoing.once('close', leave)
  const takeNext = (): void => void next().then(write)
  const write = ({ text, isLast, part }: ShortStreamPart): void => {
    if (outgoing.destroyed) return
    if (isLast) {
      outgoing.end(text)
      onPart(part)
      leave()
      return
    }
    const hasRoom = outgoing.write(text)
    // Node holds the pieces of a chunk together until the end of the turn, in which the next part begins.
    outgoing.socket?.uncork()
    onPart(part)
    if (hasRoom) takeNext()
    else outgoing.once('drain', takeNext)
  }
  takeNext()
}
