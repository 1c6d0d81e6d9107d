import type { Socket } from 'node:net'
import { createDisposables } from '@vinyasa/test-kit'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { END_HEADERS, fields, frame, Frame, headers, reply } from './hostile/frames.ts'
import { startRawGrpc, type RawGrpc } from './hostile/raw-grpc.ts'
import { recordFigure } from './support/figures.ts'
import { startGateway, type RunningGateway } from './support/gateway.ts'
import { besideNeighbours, NEIGHBOURS_TIMEOUT_MS, type Neighbours } from './support/neighbours.ts'

const PROTO = `syntax = "proto3"; package h;
service Users { rpc GetUser(GetUserRequest) returns (User); }
message GetUserRequest { int32 turn = 1; }
message User { string name = 1; }`
const ADA = Buffer.concat([Buffer.of(0x0a, 3), Buffer.from('Ada')])
/** Frames that are written at a time, as long as they are small. */
const BATCH = 4_000
const BATCH_BYTES = 4_000_000

/** A block of 200 fields of 15 kB in Huffman's code, for HPACK's table (`40`) or not (`00`). */
function coded(stream: number, first: number): Buffer {
  // Eight times "a", of five bits each.
  const text = Buffer.alloc(15_000, Buffer.from('18c6318c63', 'hex'))
  const field = Buffer.concat([Buffer.of(first, 1, 0x78, 0xff, 0x99, 0x74), text])
  return headers(0, stream, Buffer.concat(Array<Buffer>(200).fill(field)))
}

/** What a backend repeats for as long as the connection stands, on the stream that was asked. */
const REPEATED: Readonly<Record<string, (stream: number) => Buffer>> = {
  'DATA that is empty': (stream) => frame(Frame.DATA, 0, stream),
  'DATA of a byte': (stream) => frame(Frame.DATA, 0, stream, Buffer.of(0)),
  'HEADERS (103)': (stream) => frame(Frame.HEADERS, END_HEADERS, stream, fields([[':status', '103']])),
  PRIORITY: (stream) => frame(2, 0, stream, Buffer.alloc(5)),
  'RST_STREAM of streams that are over': (stream) => frame(Frame.RST, 0, stream, Buffer.alloc(4)),
  SETTINGS: () => frame(Frame.SETTINGS, 0, 0),
  PING: () => frame(Frame.PING, 0, 0, Buffer.alloc(8)),
  GOAWAY: () => frame(Frame.GOAWAY, 0, 0, Buffer.concat([Buffer.of(0x7f, 255, 255, 255), Buffer.alloc(4)])),
  WINDOW_UPDATE: () => frame(Frame.WINDOW_UPDATE, 0, 0, Buffer.of(0, 0, 0, 1)),
  "blocks of 3 MB in Huffman's code": (stream) => coded(stream, 0),
  "blocks of 3 MB in Huffman's code for the table": (stream) => coded(stream, 0x40),
  'a type that nobody knows': (stream) => frame(0xaa, 0, stream),
}

/** What every change is held to: fewer rows; `pnpm test:faults` is all. */
const isQuick = process.env['FAULTS_QUICK'] === '1'

// A row may be repeated.
vi.setConfig({ testTimeout: NEIGHBOURS_TIMEOUT_MS })

const disposables = createDisposables(afterAll)
let repeated: ((stream: number) => Buffer) | undefined
let flooding: RawGrpc
let gateway: RunningGateway
let neighbours: Neighbours
let turn = 1

function flood(socket: Socket, stream: number, one: (stream: number) => Buffer): void {
  const opening =
    repeated === REPEATED['RST_STREAM of streams that are over'] ? [] : reply(stream, ADA).slice(0, 1)
  const repeatedBytes = one(stream)
  const count = Math.min(BATCH, Math.ceil(BATCH_BYTES / repeatedBytes.length))
  const batch = Buffer.concat(Array<Buffer>(count).fill(repeatedBytes))
  socket.write(Buffer.concat(one === REPEATED['HEADERS (103)'] ? [] : opening))
  const more = (): void => {
    if (socket.destroyed || repeated === undefined) return
    if (socket.write(batch)) setImmediate(more)
    else socket.once('drain', more)
  }
  more()
}

beforeAll(async () => {
  const calm = disposables.use(
    await startRawGrpc({ onRequest: (_socket, stream, _message, send) => send(reply(stream, ADA)) }),
  )
  flooding = disposables.use(
    await startRawGrpc({
      onRequest(socket, stream, _message, send) {
        if (repeated === undefined) send(reply(stream, ADA))
        else flood(socket, stream, repeated)
      },
    }),
  )
  gateway = disposables.use(
    await startGateway({
      args: ['--preset', 'production'],
      untilReady: false,
      config: {
        grpc: {
          calm: {
            endpoint: calm.address,
            protoText: { 'h.proto': PROTO },
            methods: { 'h.Users.GetUser': { schema: { name: 'user' } } },
          },
          flooding: {
            endpoint: flooding.address,
            protoText: {
              'f.proto': PROTO.replace('package h', 'package f').replaceAll(/\bUser\b/g, 'Person'),
            },
            methods: { 'f.Users.GetUser': { schema: { name: 'person' } } },
          },
        },
      },
    }),
  )
  neighbours = {
    pid: gateway.process.pid,
    async ask() {
      const { data } = await gateway.query(`{ user(turn: ${turn++}) { name } }`)
      return data?.user?.name === 'Ada'
    },
  }
})

const kinds = Object.keys(REPEATED)

it.each(isQuick ? ['GOAWAY', 'SETTINGS'] : kinds)('a gRPC backend that repeats %s', async (kind) => {
  const before = flooding.connections
  let asked = 0
  await besideNeighbours(neighbours, {
    area: 'gRPC',
    fault: `a backend that repeats ${kind}`,
    async run(signal) {
      repeated = REPEATED[kind]
      const attacker = async (): Promise<void> => {
        while (!signal.aborted) await gateway.query(`{ person(turn: ${asked++}) { name } }`)
      }
      await Promise.all([attacker(), attacker(), attacker(), attacker()])
      repeated = undefined
      flooding.drop()
    },
  })
  recordFigure({
    area: 'gRPC',
    fault: `connections to it`,
    asked: 'ever more seldom',
    seen: `${flooding.connections - before} for ${asked} calls`,
  })
  const { data } = await gateway.query(`{ person(turn: ${asked++}) { name } }`)
  expect(data?.person?.name).toBe('Ada')
})
