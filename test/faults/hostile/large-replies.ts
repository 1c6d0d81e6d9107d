import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { END_STREAM, fields, frame, Frame, headers, OK, RESPONSE } from './frames.ts'

const FRAME_BYTES = 16_384

/** A response of HTTP/1.1 with a JSON body. */
export const jsonReply = (body: Buffer, more = ''): Buffer =>
  Buffer.concat([
    Buffer.from(
      `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${more}Content-Length: ${body.length}\r\n\r\n`,
    ),
    body,
  ])

const packedReply = (text: string): Buffer =>
  jsonReply(gzipSync(text, { level: 9 }), 'Content-Encoding: gzip\r\n')

/**
 * 10 kB that become 9.8 MB. V8 needs 75 ms to make one string of as many bytes, whoever asks for it: these are strings of
 * 100 kB.
 */
export const PACKED: Buffer = packedReply(`{"id":"1","filler":[${`"${'a'.repeat(100_000)}",`.repeat(98)}""]}`)
/** Gzip of 450,000 items. */
export const LISTED: Buffer = packedReply(
  `{"id":"1","filler":[${'0,'.repeat(450_000)}0]${' '.repeat(8_000_000)}}`,
)

const CHUNKED = Buffer.from(
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n',
)
const SHREDS = Buffer.from('1\r\n \r\n'.repeat(16_384))

/** Answers in 1,000,000 chunks of one byte, 6 MB in all, without an end. */
export function shred(socket: Socket): void {
  socket.write(CHUNKED)
  const write = (left: number): void => {
    if (left === 0 || socket.destroyed) return
    socket.write(SHREDS, () => setImmediate(() => write(left - 1)))
  }
  write(61)
}

function varint(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return [...bytes, rest]
    bytes.push((rest & 127) | 128)
  }
}

/** A protobuf message: `string id = 1` is "1", `string filler = 2` has as many bytes. */
export const fillerMessage = (bytes: number): Buffer =>
  Buffer.concat([Buffer.of(0x0a, 1, 0x31, 0x12, ...varint(bytes)), Buffer.alloc(bytes, 'a')])

const GZIP = fields([
  [':status', '200'],
  ['content-type', 'application/grpc'],
  ['grpc-encoding', 'gzip'],
])

function dataFrames(stream: number, message: Uint8Array, isPacked: boolean): Buffer[] {
  const bytes = Buffer.concat([Buffer.of(isPacked ? 1 : 0, 0, 0, 0, 0), message])
  bytes.writeUInt32BE(message.length, 1)
  return Array.from({ length: Math.ceil(bytes.length / FRAME_BYTES) }, (_, n) =>
    frame(Frame.DATA, 0, stream, bytes.subarray(n * FRAME_BYTES, (n + 1) * FRAME_BYTES)),
  )
}

const PACKED_MESSAGE = gzipSync(fillerMessage(3_900_000), { level: 9 })

/** A gRPC reply of 4 kB of gzip that become 3.9 MB. */
export const packedMessage = (stream: number): Buffer[] => [
  headers(0, stream, GZIP),
  ...dataFrames(stream, PACKED_MESSAGE, true),
  headers(END_STREAM, stream, OK),
]

/** Messages of a gRPC stream that does not end. */
export const endlessMessages = (stream: number, message: Uint8Array, count: number): Buffer[] => [
  headers(0, stream, RESPONSE),
  ...Array.from({ length: count }, () => dataFrames(stream, message, false)).flat(),
]
