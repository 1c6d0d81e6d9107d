import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { Random } from '../chaos/random.ts'

const [DATA, HEADERS, RST, SETTINGS, PING, GOAWAY] = [0, 1, 3, 4, 6, 7]
const [END_STREAM, END_HEADERS] = [1, 4]
const PREFACE_BYTES = 24

function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Fields as texts, in no table. */
function fields(list: readonly (readonly [string, string])[]): Buffer {
  const text = (value: string): Buffer => {
    const bytes = Buffer.from(value, 'latin1')
    const rest = bytes.length - 127
    const length = rest < 0 ? [bytes.length] : [127, (rest & 127) | 128, rest >> 7]
    return Buffer.concat([Buffer.from(length), bytes])
  }
  return Buffer.concat(list.flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]))
}

const RESPONSE = fields([
  [':status', '200'],
  ['content-type', 'application/grpc'],
])
const OK = fields([['grpc-status', '0']])
/** `{ name: "Ada" }` */
const MESSAGE = Buffer.concat([Buffer.of(0, 0, 0, 0, 5, 0x0a, 3), Buffer.from('Ada')])
const TRAILERS: readonly (readonly (readonly [string, string])[])[] = [
  [
    ['grpc-status', 'x'],
    ['grpc-message', '%zz%ff%'],
    ['grpc-status-details-bin', '!!!'],
  ],
  [
    ['grpc-status', '0'],
    ['grpc-status', '5'],
  ],
  [
    ['grpc-status', '99999999999999999999'],
    ['grpc-message', '%'.repeat(5000)],
  ],
  [
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ],
  [
    ['UPPER', 'x\0y\r\n'],
    ['a-bin', '\xff'],
  ],
]

function well(stream: number): Buffer[] {
  return [
    frame(HEADERS, END_HEADERS, stream, RESPONSE),
    frame(DATA, 0, stream, MESSAGE),
    frame(HEADERS, END_HEADERS | END_STREAM, stream, OK),
  ]
}

/** Frames of any kind around those of an answer, some of which are missing. */
function badly(stream: number, random: Random): Buffer[] {
  const noise = (length: number): Buffer => Buffer.from(Array.from({ length }, () => random.below(256)))
  const frames = well(stream).filter(() => random.chance(0.8))
  for (let count = random.below(4); count > 0; count--) {
    const id = random.pick([0, stream, stream, stream, stream + 2, 2, 999])
    const odd = random.pick([
      () => frame(random.below(14), random.below(256), id, noise(random.below(40))),
      () => frame(HEADERS, random.pick([4, 5]), id, fields(random.pick(TRAILERS))),
      () =>
        frame(
          DATA,
          random.below(2),
          id,
          Buffer.concat([Buffer.of(random.below(3)), noise(random.below(30))]),
        ),
      () => frame(DATA, 0, id, Buffer.alloc(random.below(20_000))),
      () => frame(RST, 0, id, noise(4)),
      () => frame(GOAWAY, 0, 0, Buffer.concat([noise(4), Buffer.of(0, 0, 0, random.below(13))])),
      () => frame(SETTINGS, 0, 0, Buffer.concat([Buffer.of(0, random.below(8)), noise(4)])),
      () => Buffer.concat(Array.from({ length: 500 }, () => frame(PING, 0, 0, Buffer.alloc(8)))),
      () => Buffer.concat(Array.from({ length: 200 }, () => frame(SETTINGS, 0, 0))),
      () => noise(random.below(100)),
    ])()
    frames.splice(random.below(frames.length + 1), 0, odd)
  }
  return frames
}

export interface HostileGrpc {
  /** `host:port` */
  readonly address: string
  /** Undefined: from now on it answers as it should. */
  misbehave(random: Random | undefined): void
  [Symbol.asyncDispose](): Promise<void>
}

/** A gRPC backend that sends HTTP/2 frames in any order, of any content, and resets. */
export async function startHostileGrpc(): Promise<HostileGrpc> {
  const sockets = new Set<Socket>()
  let random: Random | undefined

  function serve(socket: Socket): void {
    let rest = Buffer.alloc(0)
    let isGreeted = false
    const answer = (stream: number): void => {
      const bytes = Buffer.concat(random ? badly(stream, random) : well(stream))
      socket.write(bytes)
      if (random?.chance(0.1)) socket.resetAndDestroy()
    }
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk])
      if (!isGreeted) {
        if (rest.length < PREFACE_BYTES) return
        isGreeted = true
        rest = rest.subarray(PREFACE_BYTES)
        socket.write(frame(SETTINGS, 0, 0))
        if (random?.chance(0.2)) answer(1)
      }
      for (;;) {
        const end = rest.length < 9 ? Infinity : 9 + rest.readUIntBE(0, 3)
        if (rest.length < end) return
        const [type, flags, stream] = [rest[3], rest[4]!, rest.readUInt32BE(5)]
        const payload = rest.subarray(9, end)
        rest = rest.subarray(end)
        if (type === SETTINGS && (flags & 1) === 0) socket.write(frame(SETTINGS, 1, 0))
        if (type === PING && (flags & 1) === 0) socket.write(frame(PING, 1, 0, payload))
        if (type === HEADERS) answer(stream)
      }
    })
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    serve(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    misbehave(given) {
      random = given
      for (const socket of sockets) socket.destroy()
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
