import type { Socket } from 'node:net'
import { Frame, settingsIn } from './frames.ts'

const INITIAL_WINDOW = 65_535
/** The setting's number. */
const INITIAL_WINDOW_SIZE = 4
const HEAD_BYTES = 9

/** Sends frames of streams as a client's windows allow (RFC 9113, section 5.2). */
export interface FlowControl {
  /** Takes note of what the client says of its windows. */
  hear(type: number, stream: number, payload: Buffer): void
  /** Sends frames in their order; DATA, and what is behind it, waits for the windows. */
  send(stream: number, frames: readonly Buffer[]): void
}

export function createFlowControl(socket: Socket): FlowControl {
  const waiting = new Map<number, Buffer[]>()
  const windows = new Map<number, number>()
  let initial = INITIAL_WINDOW
  let connection = INITIAL_WINDOW

  function flush(): void {
    for (const [stream, frames] of waiting) {
      let window = windows.get(stream) ?? initial
      while (frames[0]) {
        const bytes = frames[0][3] === Frame.DATA ? frames[0].length - HEAD_BYTES : 0
        if (bytes > window || bytes > connection) break
        window -= bytes
        connection -= bytes
        socket.write(frames.shift()!)
      }
      windows.set(stream, window)
      if (frames.length === 0) forget(stream)
    }
  }

  function forget(stream: number): void {
    waiting.delete(stream)
    windows.delete(stream)
  }

  return {
    hear(type, stream, payload) {
      if (type === Frame.RST) forget(stream)
      else if (type === Frame.WINDOW_UPDATE && stream === 0) connection += payload.readUInt32BE()
      else if (type === Frame.WINDOW_UPDATE)
        windows.set(stream, (windows.get(stream) ?? initial) + payload.readUInt32BE())
      else if (type === Frame.SETTINGS) {
        const given = settingsIn(payload).get(INITIAL_WINDOW_SIZE) ?? initial
        for (const [known, window] of windows) windows.set(known, window + given - initial)
        initial = given
      } else return
      flush()
    },
    send(stream, frames) {
      waiting.set(stream, [...(waiting.get(stream) ?? []), ...frames])
      flush()
    },
  }
}
