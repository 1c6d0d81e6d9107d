import type { Socket } from 'node:net'
import type { Random } from '@vinyasa/test-kit'
import { END_HEADERS, fields, frame, Frame, reply } from './frames.ts'
import { startRawGrpc } from './raw-grpc.ts'

/** `{ name: "Ada" }` */
const MESSAGE = Buffer.concat([Buffer.of(0x0a, 3), Buffer.from('Ada')])
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

/** Frames of any kind around those of an answer, some of which are missing. */
export function badly(stream: number, random: Random): Buffer[] {
  const noise = (length: number): Buffer => Buffer.from(Array.from({ length }, () => random.below(256)))
  const frames = reply(stream, MESSAGE).filter(() => random.chance(0.8))
  for (let count = random.below(4); count > 0; count--) {
    const id = random.pick([0, stream, stream, stream, stream + 2, 2, 999])
    const odd = random.pick([
      () => frame(random.below(14), random.below(256), id, noise(random.below(40))),
      () => frame(Frame.HEADERS, random.pick([END_HEADERS, 5]), id, fields(random.pick(TRAILERS))),
      () =>
        frame(
          Frame.DATA,
          random.below(2),
          id,
          Buffer.concat([Buffer.of(random.below(3)), noise(random.below(30))]),
        ),
      () => frame(Frame.DATA, 0, id, Buffer.alloc(random.below(20_000))),
      () => frame(Frame.RST, 0, id, noise(4)),
      () => frame(Frame.GOAWAY, 0, 0, Buffer.concat([noise(4), Buffer.of(0, 0, 0, random.below(13))])),
      () => frame(Frame.SETTINGS, 0, 0, Buffer.concat([Buffer.of(0, random.below(8)), noise(4)])),
      () => Buffer.concat(Array.from({ length: 500 }, () => frame(Frame.PING, 0, 0, Buffer.alloc(8)))),
      () => Buffer.concat(Array.from({ length: 200 }, () => frame(Frame.SETTINGS, 0, 0))),
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
  let random: Random | undefined
  const answer = (socket: Socket, stream: number): void => {
    socket.write(Buffer.concat(random ? badly(stream, random) : reply(stream, MESSAGE)))
    if (random?.chance(0.1)) socket.resetAndDestroy()
  }
  const server = await startRawGrpc({
    onGreeting: (socket) => random?.chance(0.2) && answer(socket, 1),
    onHeaders: answer,
  })
  return {
    address: server.address,
    misbehave(given) {
      random = given
      server.drop()
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
