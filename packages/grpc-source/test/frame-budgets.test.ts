import { setTimeout } from 'node:timers/promises'
import { createHttp2Transport } from '@vinyasa/grpc-transport'
import { waitUntil } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { FRAME_BUDGETS, FrameBudgets, Kind as OwnKind } from '../../grpc-transport/src/http2/frame-budgets.ts'
import { Type } from '../../grpc-transport/src/http2/frame-parser.ts'
import { disposables } from './harness.ts'
import { rawFrame, rawHeaders, rawSettings, startRawPeer, uint32, type RawHandler } from './raw-peer.ts'
import { frame } from './wire-server.ts'

const Kind = { ...Type, ...OwnKind }
const CALL = { path: '/w.S/Get', metadata: [], timeoutMs: 10_000, signal: undefined }
const REQUEST = Buffer.from('ask')
const [END_STREAM, END_HEADERS] = [1, 4]
const RESPONSE = rawHeaders({ ':status': '200', 'content-type': 'application/grpc' })
const OPENED = rawFrame(Kind.HEADERS, END_HEADERS, 1, RESPONSE)
const INTERIM = rawFrame(Kind.HEADERS, END_HEADERS, 1, rawHeaders({ ':status': '103' }))
const FAREWELL = Buffer.concat([uint32(2 ** 31 - 1), uint32(0)])

/** What comes before, and what is then repeated; stream 1 is open. */
type Repeated = readonly [before: Buffer, repeated: Buffer]
const NONE = Buffer.alloc(0)
const OVER = rawFrame(Kind.RST_STREAM, 0, 1, uint32(8))

const REPEATED: Readonly<Record<string, Repeated>> = {
  'empty DATA': [OPENED, rawFrame(Kind.DATA, 0, 1)],
  HEADERS: [NONE, INTERIM],
  PRIORITY: [NONE, rawFrame(Kind.PRIORITY, 0, 1, Buffer.alloc(5))],
  RST_STREAM: [OVER, OVER],
  SETTINGS: [NONE, rawSettings()],
  PUSH_PROMISE: [NONE, rawFrame(Kind.PUSH_PROMISE, END_HEADERS, 1, Buffer.alloc(2_000))],
  PING: [NONE, rawFrame(Kind.PING, 0, 0, 'pingpong')],
  GOAWAY: [NONE, rawFrame(Kind.GOAWAY, 0, 0, FAREWELL)],
  WINDOW_UPDATE: [NONE, rawFrame(Kind.WINDOW_UPDATE, 0, 0, uint32(1))],
  CONTINUATION: [rawFrame(Kind.HEADERS, 0, 1), rawFrame(Kind.CONTINUATION, 0, 1)],
  'unknown type': [NONE, rawFrame(0xaa, 0, 1, 'unknown')],
  // A message of 4 MB, a byte at a time.
  'small DATA': [
    Buffer.concat([OPENED, rawFrame(Kind.DATA, 0, 1, Buffer.of(0, 0, 0x3f, 0, 0))]),
    rawFrame(Kind.DATA, 0, 1, 'a'),
  ],
  'DATA for ended calls': [OVER, rawFrame(Kind.DATA, 0, 1, Buffer.alloc(16_384))],
}

const replying =
  (...bytes: readonly Buffer[]): RawHandler =>
  (socket, { type, flags, stream }) => {
    if (type === Kind.DATA && (flags & END_STREAM) !== 0 && stream === 1)
      for (const one of bytes) socket.write(one)
  }

const answered = [
  OPENED,
  rawFrame(Kind.DATA, 0, 1, frame('reply')),
  rawFrame(Kind.HEADERS, END_HEADERS | END_STREAM, 1, rawHeaders({ 'grpc-status': '0' })),
]

/** Frames of 16 KiB count as many. */
const countOf = (bytes: Buffer): number => 1 + ((bytes.length - 9) >> 10)

describe('a peer that repeats', () => {
  it('has a budget for every type of frame', () => {
    expect(Object.keys(REPEATED)).toEqual(FRAME_BUDGETS.map(({ name }) => name))
    // The types of RFC 9113, sections 6.1 to 6.10, stand at their numbers; whatever is beyond them is one kind.
    expect(FRAME_BUDGETS.slice(1, Kind.UNKNOWN).map(({ name }) => Kind[name as keyof typeof Kind])).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9,
    ])
  })

  it.each(FRAME_BUDGETS)(
    '$name beyond its budget is told to be calm, and left',
    async ({ name, perSecond }) => {
      vi.useFakeTimers({ toFake: ['performance'] })
      onTestFinished(() => void vi.useRealTimers())
      const [before, one] = REPEATED[name]!
      // What is forgiven, and what a call or two may bring, is less than this.
      const many = Buffer.concat(
        Array.from({ length: Math.ceil((perSecond + 20_000) / countOf(one)) }, () => one),
      )
      const peer = await startRawPeer(replying(before, many))
      const transport = disposables().use(
        createHttp2Transport({ address: peer.address, tls: undefined, channel: {} }),
      )
      await transport.unary({ ...CALL, timeoutMs: 2_000 }, REQUEST).catch(() => {})
      await waitUntil(async () => {
        const error = await transport.unary({ ...CALL, timeoutMs: 1_000 }, REQUEST).catch(String)
        // Small frames within one block have a bound of their own.
        return String(error).includes(
          name === 'CONTINUATION'
            ? 'too many HTTP/2 CONTINUATION frames for one header block'
            : `sent too many HTTP/2 frames (${name})`,
        )
      })
      // Nor is it connected to at once.
      const { connections } = peer
      await expect(transport.unary(CALL, REQUEST)).rejects.toMatchObject({ status: 'UNAVAILABLE' })
      expect(peer.connections).toBe(connections)
      vi.advanceTimersByTime(1_300)
      const again = transport.unary({ ...CALL, timeoutMs: 200 }, REQUEST).catch(() => {})
      await waitUntil(() => peer.connections === connections + 1)
      transport.close()
      await again
    },
  )

  it.each(FRAME_BUDGETS.filter(({ name }) => !['PUSH_PROMISE', 'CONTINUATION', 'GOAWAY'].includes(name)))(
    '$name within its budget, second after second, is answered',
    async ({ name, perSecond }) => {
      vi.useFakeTimers({ toFake: ['performance'] })
      onTestFinished(() => void vi.useRealTimers())
      const [before, one] = REPEATED[name]!
      const isOver = before === OVER
      const many = Buffer.concat(
        Array.from({ length: Math.min(20_000, Math.floor((perSecond * 0.9) / countOf(one))) }, () => one),
      )
      let isDone = false
      const peer = await startRawPeer(async (socket, { type, flags, stream }) => {
        if (type !== Kind.DATA || (flags & END_STREAM) === 0) return
        if (stream > 1)
          return void socket.write(Buffer.concat(answered.map((bytes) => ofStream(bytes, stream))))
        socket.write(before)
        for (let second = 0; second < 3; second++) {
          await new Promise<void>((resolve) => socket.write(many, () => resolve()))
          await setTimeout(100)
          vi.advanceTimersByTime(1_001)
        }
        if (!isOver) socket.write(rawFrame(Kind.RST_STREAM, 0, 1, uint32(8)))
        isDone = true
      })
      const transport = disposables().use(
        createHttp2Transport({ address: peer.address, tls: undefined, channel: {} }),
      )
      await transport.unary(CALL, REQUEST).catch(() => {})
      await waitUntil(() => isDone)
      expect(await transport.unary(CALL, REQUEST)).toHaveLength(5)
      expect(peer.of(Kind.GOAWAY)).toEqual([])
    },
  )
})

function ofStream(bytes: Buffer, stream: number): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt32BE(stream, 5)
  return copy
}

describe('budgets', () => {
  it('grow with calls: an honest server answers any number of them', () => {
    const budgets = new FrameBudgets()
    budgets.at(0, 0)
    for (let call = 0; call < 100_000; call++) {
      budgets.begin()
      for (const kind of [Kind.HEADERS, Kind.HEADERS, Kind.WINDOW_UPDATE, Kind.WINDOW_UPDATE, Kind.PING])
        budgets.count(kind, 100)
    }
    expect(() => new FrameBudgets().count(Kind.SETTINGS, 2_000_000)).toThrow(
      'too many HTTP/2 frames (SETTINGS)',
    )
  })

  it('are kept where the clock is set back', () => {
    const budgets = new FrameBudgets()
    for (let now = 10_000; now > 0; now -= 100) {
      budgets.at(now, 0)
      for (let count = 0; count < 900; count++) budgets.count(Kind.SETTINGS, 0)
    }
    expect(() => budgets.count(Kind.SETTINGS, 2_000_000)).toThrow('too many HTTP/2 frames (SETTINGS)')
  })
})
