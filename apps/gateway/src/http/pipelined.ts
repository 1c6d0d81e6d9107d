import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Call for each request, before it is answered. */
export type CloseWithConnection = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Tells responses that their connection is gone. Node tells the one that is being written; those whose turn has not
 * come, as requests were sent one behind the other, would wait for ever, with all that ends when they close.
 */
export function closePipelined(): CloseWithConnection {
  const bySocket = new WeakMap<Socket, Set<ServerResponse>>()

  function waitingOn(socket: Socket): Set<ServerResponse> {
    const known = bySocket.get(socket)
    if (known) return known
    const waiting = new Set<ServerResponse>()
    bySocket.set(socket, waiting)
    socket.once('close', () => {
      for (const response of waiting) {
        response.destroy()
        response.emit('close')
      }
    })
    return waiting
  }

  return ({ socket }, response) => {
    if (response.socket) return
    const waiting = waitingOn(socket)
    waiting.add(response)
    response.once('close', () => waiting.delete(response))
  }
}
