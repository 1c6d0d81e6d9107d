import { createServer, type AddressInfo, type Socket } from 'node:net'

export const Frame = {
  DATA: 0,
  HEADERS: 1,
  RST: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  CONTINUATION: 9,
} as const
export const END_STREAM = 1
export const END_HEADERS = 4
const PREFACE_BYTES = 24
const FRAME_BYTES = 16_384

export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Fields as texts, in no table. */
export function fields(list: readonly (readonly [string, string])[]): Buffer {
  const text = (value: string): Buffer => {
    const bytes = Buffer.from(value, 'latin1')
    const length = [Math.min(bytes.length, 127)]
    if (bytes.length >= 127) {
      let rest = bytes.length - 127
      for (; rest >= 128; rest >>>= 7) length.push((rest & 127) | 128)
      length.push(rest)
    }
    return Buffer.concat([Buffer.from(length), bytes])
  }
  return Buffer.concat(list.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]))
}

/** A header block of any length, in as many frames as it needs. */
export function headers(flags: number, stream: number, block: Buffer): Buffer {
  const count = Math.max(1, Math.ceil(block.length / FRAME_BYTES))
  return Buffer.concat(
    Array.from({ length: count }, (_, index) => {
      const part = block.subarray(index * FRAME_BYTES, (index + 1) * FRAME_BYTES)
      const type = index === 0 ? Frame.HEADERS : Frame.CONTINUATION
      return frame(type, (index === 0 ? flags : 0) | (index === count - 1 ? END_HEADERS : 0), stream, part)
    }),
  )
}

export const RESPONSE: Buffer = fields([
  [':status', '200'],
  ['content-type', 'application/grpc'],
])
export const OK: Buffer = fields([['grpc-status', '0']])

/** A whole answer: one message, as it stands in protobuf. */
export function reply(stream: number, message: Uint8Array): Buffer[] {
  const prefixed = Buffer.concat([Buffer.alloc(5), message])
  prefixed.writeUInt32BE(message.length, 1)
  const data: Buffer[] = []
  for (let from = 0; from < prefixed.length; from += FRAME_BYTES)
    data.push(frame(Frame.DATA, 0, stream, prefixed.subarray(from, from + FRAME_BYTES)))
  return [
    frame(Frame.HEADERS, END_HEADERS, stream, RESPONSE),
    ...data,
    frame(Frame.HEADERS, END_HEADERS | END_STREAM, stream, OK),
  ]
}

export interface RawGrpcOptions {
  /** SETTINGS by number. */
  readonly settings?: Readonly<Record<number, number>>
  onGreeting?(socket: Socket): void
  /** A request's headers came. */
  onHeaders?(socket: Socket, stream: number): void
  /** A request is whole; `message` is without gRPC's prefix. */
  onRequest?(socket: Socket, stream: number, message: Buffer): void
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

export function settingsOf(settings: Readonly<Record<number, number>>): Buffer {
  const entries = Object.entries(settings).map(([id, value]) => {
    const entry = Buffer.alloc(6)
    entry.writeUInt16BE(Number(id))
    entry.writeUInt32BE(value, 2)
    return entry
  })
  return frame(Frame.SETTINGS, 0, 0, Buffer.concat(entries))
}

/** A gRPC backend of frames by hand. It keeps no windows: a reply is to fit into the client's. */
export async function startRawGrpc(options: RawGrpcOptions): Promise<RawGrpc> {
  const { settings = {}, onGreeting, onHeaders, onRequest } = options
  const sockets = new Set<Socket>()
  let connections = 0

  function serve(socket: Socket): void {
    let rest = Buffer.alloc(0)
    let isGreeted = false
    const bodies = new Map<number, Buffer[]>()
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
        if (type === Frame.SETTINGS && (flags & 1) === 0) socket.write(frame(Frame.SETTINGS, 1, 0))
        if (type === Frame.PING && (flags & 1) === 0) socket.write(frame(Frame.PING, 1, 0, payload))
        if (type === Frame.HEADERS) onHeaders?.(socket, stream)
        if (type === Frame.RST) bodies.delete(stream)
        if (type !== Frame.DATA) continue
        // Lets the client send on, however much it sends.
        if (payload.length > 0) {
          const more = Buffer.alloc(4)
          more.writeUInt32BE(payload.length)
          socket.write(Buffer.concat([frame(8, 0, 0, more), frame(8, 0, stream, more)]))
        }
        const parts = bodies.get(stream) ?? []
        parts.push(payload)
        bodies.set(stream, parts)
        if ((flags & END_STREAM) === 0) continue
        bodies.delete(stream)
        onRequest?.(socket, stream, Buffer.concat(parts).subarray(5))
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
