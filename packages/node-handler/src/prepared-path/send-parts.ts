import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { PartStream, StreamPart } from '@vinyasa/core/pipeline'

/**
 * Writes an answer whose head is ready: each part in one write, the last one together with the end. The next is asked for
 * when there is room for it, and none when the client has left.
 */
export function sendParts(
  stream: PartStream,
  { socket }: IncomingMessage,
  outgoing: ServerResponse,
  onPart: (part: unknown) => void,
): void {
  const { next, leave } = stream
  // Yoga's door does the same for streams: time may pass between two parts, and a small one is not held back.
  socket.setTimeout(0)
  socket.setNoDelay(true)
  // Without its delay, Node asks the kernel again each time.
  socket.setKeepAlive(true, 0)
  if (outgoing.listenerCount('pipe') > 0) return pipeParts(stream, outgoing, onPart)
  outgoing.once('close', leave)
  const takeNext = (): void => void next().then(write)
  const write = ({ text, isLast, part }: StreamPart): void => {
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

/**
 * The same for a host that learns from the event `pipe` that an answer goes on behind the handler's promise, as H3 does:
 * it would end the answer else.
 */
function pipeParts(stream: PartStream, outgoing: ServerResponse, onPart: (part: unknown) => void): void {
  const source = Readable.from(textsOf(stream, onPart), { highWaterMark: 1 })
  // Nothing fails but what is told to the client within a part.
  source.on('error', () => outgoing.destroy())
  outgoing.once('close', () => {
    stream.leave()
    source.destroy()
  })
  source.pipe(outgoing)
}

async function* textsOf(
  { next, leave }: PartStream,
  onPart: (part: unknown) => void,
): AsyncGenerator<StreamPart['text']> {
  try {
    for (let isLast = false; !isLast;) {
      const given = await next()
      isLast = given.isLast
      yield given.text
      onPart(given.part)
    }
  } finally {
    leave()
  }
}
