import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** A signal that aborts when the connection ends before the answer does. */
export function leftSignal(incoming: IncomingMessage, outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController()
  // One request may have any number of backend calls that listen.
  setMaxListeners(0, controller.signal)
  const leave = (): void => {
    if (controller.signal.aborted) return
    Object.defineProperty(incoming, 'aborted', { value: true })
    controller.abort(outgoing.errored ?? undefined)
  }
  if (outgoing.writableFinished) return controller.signal
  if (outgoing.closed || outgoing.destroyed) {
    leave()
    return controller.signal
  }
  outgoing.on('error', leave)
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) leave()
  })
  return controller.signal
}
