import { createServer, type AddressInfo, type Socket } from 'node:net'
import { disposables } from './harness.ts'

export interface RawFrame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

export interface RawPeer {
  readonly address: string
  /** So far. */
  readonly connections: number
  /** What came so far, on all connections. */
  readonly frames: readonly RawFrame[]
  /** Of a type. */
  of(type: number): readonly RawFrame[]
}

export type RawHandler = (socket: Socket, frame: RawFrame) => void

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

export function rawFrame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array | string = '',
): Buffer {
  const bytes = Buffer.from(payload)
  const frame = Buffer.alloc(9 + bytes.length)
  frame.writeUIntBE(bytes.length, 0, 3)
  frame[3] = type
  frame[4] = flags
  frame.writeUInt32BE(stream, 5)
  frame.set(bytes, 9)
  return frame
}

/** Settings by number. */
export function rawSettings(settings: Readonly<Record<number, number>> = {}): Buffer {
  const entries = Object.entries(settings).map(([id, value]) => {
    const entry = Buffer.alloc(6)
    entry.writeUInt16BE(Number(id))
    entry.writeUInt32BE(value, 2)
    return entry
  })
  return rawFrame(4, 0, 0, Buffer.concat(entries))
}

/** A header block of plain literals. */
export function rawHeaders(fields: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(
    Object.entries(fields).map(([name, value]) =>
      Buffer.concat([
        Buffer.of(0, name.length),
        Buffer.from(name),
        Buffer.of(value.length),
        Buffer.from(value),
      ]),
    ),
  )
}

export const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** A server of frames by hand. It greets with `settings`; the handler is told of each frame but the answers to those. */
export async function startRawPeer(
  handler: RawHandler,
  settings: Readonly<Record<number, number>> = {},
): Promise<RawPeer> {
  const frames: RawFrame[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    connections++
    let bytes = Buffer.alloc(0)
    let isGreeted = false
    socket.on('error', () => {})
    socket.write(rawSettings(settings))
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk])
      if (!isGreeted) {
        if (bytes.length < PREFACE.length) return
        if (bytes.toString('latin1', 0, PREFACE.length) !== PREFACE) throw new Error('no preface')
        isGreeted = true
        bytes = bytes.subarray(PREFACE.length)
      }
      while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
        const end = 9 + bytes.readUIntBE(0, 3)
        const frame = {
          type: bytes[3] as number,
          flags: bytes[4] as number,
          stream: bytes.readUInt32BE(5),
          payload: Buffer.from(bytes.subarray(9, end)),
        }
        bytes = bytes.subarray(end)
        frames.push(frame)
        handler(socket, frame)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  disposables().use(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections
    },
    frames,
    of: (type) => frames.filter((frame) => frame.type === type),
  }
}
