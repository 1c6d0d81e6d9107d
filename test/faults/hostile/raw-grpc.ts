import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createFlowControl, type FlowControl } from './flow-control.ts'
import { END_STREAM, frame, Frame, settingsOf } from './frames.ts'

const PREFACE_BYTES = 24

export interface RawGrpcOptions {
  /** SETTINGS by number. */
  readonly settings?: Readonly<Record<number, number>>
  onGreeting?(socket: Socket): void
  /** A request's headers came. */
  onHeaders?(socket: Socket, stream: number): void
  /** A request is whole; `message` is without gRPC's prefix. `send` sends frames of its stream within the windows. */
  onRequest?(socket: Socket, stream: number, message: Buffer, send: (frames: readonly Buffer[]) => void): void
}

export interface RawGrpc {
  /** `host:port` */
  readonly address: string
  /** Connections so far. */
  readonly connections: number
  /** Ends the connections that stand. */
  drop(): void
  [Symbol.asyncDispose](): Promise<void>
}

/** A gRPC backend of frames by hand. What is written to its sockets directly keeps no windows. */
export async function startRawGrpc(options: RawGrpcOptions): Promise<RawGrpc> {
  const { settings = {}, onGreeting, onHeaders, onRequest } = options
  const sockets = new Set<Socket>()
  let connections = 0

  function serve(socket: Socket): void {
    let rest = Buffer.alloc(0)
    let isGreeted = false
    const bodies = new Map<number, Buffer[]>()
    const flow: FlowControl = createFlowControl(socket)
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk])
      if (!isGreeted) {
        if (rest.length < PREFACE_BYTES) return
        isGreeted = true
        rest = rest.subarray(PREFACE_BYTES)
        socket.write(settingsOf(settings))
        onGreeting?.(socket)
      }
      for (;;) {
        const end = rest.length < 9 ? Infinity : 9 + rest.readUIntBE(0, 3)
        if (rest.length < end) return
        const [type, flags, stream] = [rest[3], rest[4]!, rest.readUInt32BE(5)]
        const payload = Buffer.from(rest.subarray(9, end))
        rest = rest.subarray(end)
        flow.hear(type!, stream, payload)
        if (type === Frame.SETTINGS && (flags & 1) === 0) socket.write(frame(Frame.SETTINGS, 1, 0))
        if (type === Frame.PING && (flags & 1) === 0) socket.write(frame(Frame.PING, 1, 0, payload))
        if (type === Frame.HEADERS) onHeaders?.(socket, stream)
        if (type === Frame.RST) bodies.delete(stream)
        if (type !== Frame.DATA) continue
        // Lets the client send on, however much it sends.
        if (payload.length > 0) {
          const more = Buffer.alloc(4)
          more.writeUInt32BE(payload.length)
          const { WINDOW_UPDATE } = Frame
          socket.write(
            Buffer.concat([frame(WINDOW_UPDATE, 0, 0, more), frame(WINDOW_UPDATE, 0, stream, more)]),
          )
        }
        const parts = bodies.get(stream) ?? []
        parts.push(payload)
        bodies.set(stream, parts)
        if ((flags & END_STREAM) === 0) continue
        bodies.delete(stream)
        onRequest?.(socket, stream, Buffer.concat(parts).subarray(5), (frames) => flow.send(stream, frames))
      }
    })
  }

  const server = createServer((socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    serve(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections
    },
    drop() {
      for (const socket of sockets) socket.destroy()
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
