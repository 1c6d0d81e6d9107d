import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { PartStream, StreamPart } from '@vinyasa/core/pipeline'

/**
 * Sends a response whose head is complete. Each part is one write, and the last part also ends the response. The next
 * part is requested when the socket has room. No part is requested after the client has disconnected.
 */
export function sendParts(
  stream: PartStream,
  { socket }: IncomingMessage,
  outgoing: ServerResponse,
  onPart: (part: unknown) => void,
): void {
  const { next, leave } = stream
  // Yoga does the same for streams. Pauses between parts can be long, and small parts must not be delayed.
  socket.setTimeout(0)
  socket.setNoDelay(true)
  // Without the explicit delay, Node queries the kernel again for each response.
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
    // Node buffers the pieces of a chunk until the end of the tick, in which the next part already starts.
    outgoing.socket?.uncork()
    onPart(part)
    if (hasRoom) takeNext()
    else outgoing.once('drain', takeNext)
  }
  takeNext()
}

/**
 * Pipes the parts for hosts such as H3. These hosts detect by the event `pipe` that a response continues after the
 * promise of the handler, and otherwise end the response.
 */
function pipeParts(stream: PartStream, outgoing: ServerResponse, onPart: (part: unknown) => void): void {
  const source = Readable.from(textsOf(stream, onPart), { highWaterMark: 1 })
  // Parts contain their errors, so that the source does not fail.
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
