import { setTimeout } from 'node:timers/promises'
import { waitUntil } from '@vinyasa/test-kit'
import { array, assert, asyncProperty, boolean, nat, property, record, string, uint8Array } from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ChannelOptions } from '@vinyasa/grpc-transport'
import { FrameParser } from '../../grpc-transport/src/http2/frame-parser.ts'
import { HpackDecoder } from '../../grpc-transport/src/http2/hpack-decoder.ts'
import { createHttp2Transport } from '@vinyasa/grpc-transport'
import type { Transport } from '@vinyasa/grpc-transport'
import { disposables } from './harness.ts'
import { rawFrame, rawHeaders, rawSettings, startRawPeer, uint32, type RawHandler } from './raw-peer.ts'
import { answer, frame, startWireServer } from './wire-server.ts'

const REQUEST = Buffer.from('ask')
const CALL = { path: '/w.S/Get', metadata: [], timeoutMs: 10_000, signal: undefined }
const [DATA, HEADERS, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION] = [0, 1, 3, 4, 5, 6, 7, 8, 9]
const [ACK, END_STREAM, END_HEADERS, PADDED, PRIORITY] = [1, 1, 4, 8, 32]
const RESPONSE = rawHeaders({ ':status': '200', 'content-type': 'application/grpc' })
const whole = rawFrame(HEADERS, END_HEADERS, 1, RESPONSE)
const TRAILERS = rawHeaders({ 'grpc-status': '0' })

function transportTo(address: string, channel: ChannelOptions = {}): Transport {
  return disposables().use(createHttp2Transport({ address, tls: undefined, channel }))
}

/** What a whole block holds. */
function decode(decoder: HpackDecoder, block: Buffer): ReturnType<HpackDecoder['finish']> {
  decoder.push(block)
  return decoder.finish()
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')

/** A field that goes into the table. */
function kept(name: string, value: string): Buffer {
  const [key, text] = [Buffer.from(name), Buffer.from(value)]
  return Buffer.concat([Buffer.of(0x40, key.length), key, Buffer.of(text.length), text])
}

describe('header blocks', () => {
  it('are read as in RFC 7541, appendix C.6: Huffman codes, and a table that is full', () => {
    const decoder = new HpackDecoder(10_000)
    const read = (block: string): string[] | undefined => decode(decoder, hex(block))?.fields
    const first = [
      ':status',
      '302',
      'cache-control',
      'private',
      'date',
      'Mon, 21 Oct 2013 20:13:21 GMT',
      'location',
      'https://www.example.com',
    ]
    // In front, the size of the table in the example: 256.
    expect(
      read(`3fe101 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e
        919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3`),
    ).toEqual(first)
    expect(read('4883 640e ffc1 c0bf')).toEqual([':status', '307', ...first.slice(2)])
    expect(
      read(`88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2
        e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07`),
    ).toEqual([
      ':status',
      '200',
      'cache-control',
      'private',
      'date',
      'Mon, 21 Oct 2013 20:13:22 GMT',
      'location',
      'https://www.example.com',
      'content-encoding',
      'gzip',
      'set-cookie',
      'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
    ])
    expect(() => read('c2')).toThrow('the table has no entry')
  })

  it.each([
    ['an entry 0', '80'],
    ['an entry beyond the tables', 'be'],
    ['a number without an end', 'ffffffffffffff'],
    ['a text longer than the block', '000561'],
    ['a field without its value', '000161'],
    ['a table larger than allowed', '3fe21f'],
    ['a table that changes its size late', '8220'],
    ['padding of eight bits', '000161 82 1fff'],
    ['padding of zeros', '000161 81 18'],
    ['the code of the end', '000161 84 ffffffff'],
  ])('%s is an error', (_what, block) => {
    expect(() => decode(new HpackDecoder(1_000), hex(block))).toThrow(expect.objectContaining({ code: 9 }))
  })

  it('that hold too much are left out, and later ones are read as ever', () => {
    const decoder = new HpackDecoder(100)
    expect(decode(decoder, kept('name', 'v'.repeat(65)))).toBeUndefined()
    expect(decode(decoder, Buffer.of(0x0f, 0x2f, 1, 0x61))?.get('name')).toBe('a')
  })

  it('of any texts come as they were sent, call after call', async () => {
    const server = disposables().use(
      await startWireServer((call) => {
        const sent = JSON.parse(Buffer.from(String(call.headers['x-wanted']), 'base64').toString()) as object
        answer(call, frame('reply'), { 'grpc-status': '5', 'grpc-message': 'm', ...sent })
      }),
    )
    const transport = transportTo(server.address)
    const texts = string({ unit: unicodeOf(0x21, 0x7e), minLength: 1, maxLength: 60 })
    await assert(
      asyncProperty(
        array(record({ message: texts, details: uint8Array({ maxLength: 200 }) }), { maxLength: 4 }),
        async (all) => {
          for (const { message, details } of all) {
            const trailers = {
              'grpc-message': message.replaceAll('%', '%25'),
              'grpc-status-details-bin': Buffer.from(details).toString('base64'),
              [`x-${Buffer.from(details.subarray(0, 3)).toString('hex')}`]: message,
            }
            const wanted = Buffer.from(JSON.stringify(trailers)).toString('base64')
            const metadata = [
              ['x-wanted', wanted],
              ['x-same', message],
              ['x-same', message],
            ] as const
            const error = await transport.unary({ ...CALL, metadata }, REQUEST).catch((thrown) => thrown)
            expect(error).toMatchObject({ status: 'NOT_FOUND', message })
            expect([...(error.details ?? [])]).toEqual([...details])
            expect(server.calls.at(-1)?.headers['x-same']).toBe(`${message}, ${message}`)
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  it('are read by a server that keeps no table', async () => {
    const settings = { headerTableSize: 0 }
    const server = disposables().use(
      await startWireServer((call) => answer(call, frame('reply')), { settings }),
    )
    expect(await transportTo(server.address).unary(CALL, REQUEST)).toHaveLength(5)
  })

  it('too large for one frame go out in several', async () => {
    const server = disposables().use(
      await startWireServer((call) => answer(call, frame('reply')), {
        maxHeaderListPairs: 1000,
        settings: { maxHeaderListSize: 100_000 },
      }),
    )
    const value = 'abc'.repeat(12_000)
    const metadata = [['x-large', value]] as const
    const transport = transportTo(server.address)
    expect(await transport.unary({ ...CALL, metadata }, REQUEST)).toHaveLength(5)
    expect(server.calls[0]?.headers['x-large']).toBe(value)
    expect(await transport.unary(CALL, REQUEST)).toHaveLength(5)
  })
})

function unicodeOf(from: number, to: number) {
  return nat(to - from).map((offset) => String.fromCharCode(from + offset))
}

/** A field as a text of any length, for the table (`40`) or not (`00`), its value perhaps in Huffman's code. */
function literal(first: number, name: string, value: string, isHuffman: boolean): Buffer {
  const text = (bytes: Buffer, flag: number): Buffer => {
    const length = [bytes.length < 127 ? flag | bytes.length : flag | 127]
    for (let rest = bytes.length - 127; rest >= 0; rest = rest < 128 ? -1 : rest >>> 7)
      length.push(rest < 128 ? rest : (rest & 127) | 128)
    return Buffer.concat([Buffer.from(length), bytes])
  }
  // Eight times "a", of five bits each, are five bytes.
  const coded = Buffer.concat(Array.from({ length: value.length / 8 }, () => hex('18c6318c63')))
  return Buffer.concat([
    Buffer.of(first),
    text(Buffer.from(name), 0),
    isHuffman ? text(coded, 0x80) : text(Buffer.from(value), 0),
  ])
}

/** A field of 15 kB in Huffman's code: `40` for the table, `00` not. */
const CODED = (first: number): Buffer => literal(first, 'x', 'a'.repeat(24_000), true)

/** A whole header block in as many frames as it needs, which ends the stream. */
function rawBlock(stream: number, block: Buffer): Buffer {
  const count = Math.ceil(block.length / 16_384)
  return Buffer.concat(
    Array.from({ length: count }, (_, index) => {
      const flags = (index === 0 ? END_STREAM : 0) | (index === count - 1 ? END_HEADERS : 0)
      const part = block.subarray(index * 16_384, (index + 1) * 16_384)
      return rawFrame(index === 0 ? HEADERS : CONTINUATION, flags, stream, part)
    }),
  )
}

describe('header blocks of any size', () => {
  const MAX_BYTES = 20_000
  const fields = array(
    record({
      name: nat(40).chain((exponent) => nat(Math.floor(1.3 ** exponent))),
      value: nat(30).chain((exponent) => nat(Math.floor(1.4 ** exponent))),
      isKept: boolean(),
      isHuffman: boolean(),
    }),
    { maxLength: 8 },
  )

  it('in any pieces are read up to the limit, and leave the table as it has to be', () => {
    assert(
      property(array(fields, { maxLength: 4 }), array(nat(3_000), { maxLength: 30 }), (blocks, cuts) => {
        const decoder = new HpackDecoder(MAX_BYTES)
        let table: [string, string][] = []
        const sizeOf = (list: readonly (readonly [string, string])[]): number =>
          list.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0)
        for (const block of blocks) {
          const list = block.map(({ name, value, isHuffman }): [string, string] => [
            'n'.repeat(name),
            'a'.repeat(isHuffman ? value * 8 : value),
          ])
          for (const [index, field] of list.entries()) {
            if (block[index]?.isKept) table.push(field)
            while (sizeOf(table) > 4_096) table = table.slice(1)
          }
          const bytes = Buffer.concat(
            list.map(([name, value], index) =>
              literal(block[index]?.isKept ? 0x40 : 0, name, value, block[index]?.isHuffman === true),
            ),
          )
          let from = 0
          for (const cut of [...cuts, bytes.length]) {
            decoder.push(bytes.subarray(from, from + cut))
            from += cut
          }
          expect(decoder.finish()?.fields).toEqual(sizeOf(list) > MAX_BYTES ? undefined : list.flat())
          const held = decode(decoder, Buffer.from(table.map((_, index) => 0x80 + 62 + index)))
          expect(held?.fields).toEqual(table.toReversed().flat())
          expect(() => decode(decoder, Buffer.of(0x80 + 62 + table.length))).toThrow('the table has no entry')
        }
      }),
      { numRuns: 300 },
    )
  })

  const tooMuch = {
    status: 'INTERNAL',
    message: expect.stringContaining('a header block that exceeds the limit of') as string,
  }

  it.each([64_000, 66_000, 100_000, 140_000, 300_000, 4_500_000])(
    'fail at %d bytes no more than their call',
    async (size) => {
      const block = Buffer.concat([
        RESPONSE,
        kept('x-kept', 'here'),
        literal(0, 'grpc-status', '3', false),
        literal(0, 'grpc-message', 'm'.repeat(size), false),
        kept('x-kept', 'there'),
      ])
      let streams: number[] = []
      const peer = await startRawPeer((socket, { type, stream }) => {
        if (type !== DATA) return
        streams.push(stream)
        if (streams.length < 2) return
        const [large, small] = streams as [number, number]
        streams = []
        socket.write(rawBlock(large, block))
        // The table is as if all of it had been read.
        const indexed = Buffer.concat([RESPONSE, rawHeaders({ 'grpc-status': '5' }), Buffer.of(0xbe, 0xbf)])
        socket.write(rawFrame(HEADERS, END_STREAM | END_HEADERS, small, indexed))
      })
      const transport = transportTo(peer.address)
      for (let round = 0; round < 3; round++) {
        const [large, small] = await Promise.allSettled([
          transport.unary(CALL, REQUEST),
          transport.unary(CALL, REQUEST),
        ])
        expect(small).toMatchObject({ reason: { status: 'NOT_FOUND' } })
        expect(large).toMatchObject({ reason: size > 65_000 ? tooMuch : { status: 'INVALID_ARGUMENT' } })
      }
      const first = peer.of(SETTINGS)[0]?.payload.toString('hex')
      expect(first).toContain(`0006${uint32(65_535).toString('hex')}`)
      expect(peer.of(SETTINGS).filter(({ flags }) => flags === 0)).toHaveLength(1)
      expect(peer.of(HEADERS)).toHaveLength(6)
      expect(peer.of(RST)).toEqual([])
      expect(peer.of(GOAWAY)).toEqual([])
    },
  )

  it('do not decode texts of a block that is too large, unless they are for the table', async () => {
    const decoder = new HpackDecoder(MAX_BYTES)
    // The code of the end, which no text may hold.
    const wrong = literal(0, 'x', 'a'.repeat(8), true).fill(0xff, 4)
    expect(() => decode(decoder, wrong)).toThrow('the end-of-string code')
    const again = new HpackDecoder(MAX_BYTES)
    expect(decode(again, Buffer.concat([literal(0, 'x', 'a'.repeat(30_000), false), wrong]))).toBeUndefined()
    expect(() =>
      decode(again, Buffer.concat([CODED(0x40), literal(0x40, 'x', 'a'.repeat(8), true).fill(0xff, 4)])),
    ).toThrow('the end-of-string code')
    const peer = await startRawPeer((socket, { type, stream }) => {
      if (type === DATA) socket.write(rawBlock(stream, Buffer.concat(Array<Buffer>(200).fill(CODED(0)))))
    })
    const transport = transportTo(peer.address)
    for (let call = 0; call < 3; call++)
      await expect(transport.unary(CALL, REQUEST)).rejects.toMatchObject(tooMuch)
    expect(peer.connections).toBe(1)
  })

  it('give messages that are cut', async () => {
    const server = disposables().use(
      await startWireServer((call) =>
        answer(call, frame('reply'), { 'grpc-status': '3', 'grpc-message': 'm'.repeat(50_000) }),
      ),
    )
    await expect(transportTo(server.address).unary(CALL, REQUEST)).rejects.toMatchObject({
      message: `${'m'.repeat(2_048)}… (50000 characters)`,
    })
  })
})

describe('frames', () => {
  it('are cut out of any pieces', () => {
    const frames = array(
      record({ type: nat(12), flags: nat(7), stream: nat(99), payload: uint8Array({ maxLength: 40 }) }),
      {
        maxLength: 6,
      },
    )
    assert(
      property(frames, array(nat(30), { maxLength: 40 }), (given, cuts) => {
        const bytes = Buffer.concat(
          given.map((one) => rawFrame(one.type, one.flags, one.stream, one.payload)),
        )
        const seen: object[] = []
        let data: number[] = []
        const parser = new FrameParser({
          frame: (type, flags, stream, payload) => seen.push({ type, flags, stream, payload: [...payload] }),
          data(flags, stream, piece, isLast) {
            data.push(...piece)
            if (!isLast) return
            seen.push({ type: DATA, flags, stream, payload: data })
            data = []
          },
        })
        let from = 0
        for (const cut of [...cuts, bytes.length]) {
          parser.push(bytes.subarray(from, from + cut))
          from += cut
        }
        expect(seen).toEqual(given.map((one) => ({ ...one, payload: [...one.payload] })))
      }),
    )
  })
})

/** Answers a request, once it is whole, with these bytes. */
function replying(...bytes: readonly Buffer[]): RawHandler {
  return replyingInPieces([Buffer.concat(bytes)])
}

/** The same, each piece so late that it is read alone. */
function replyingInPieces(pieces: readonly Buffer[]): RawHandler {
  return async (socket, { type, flags, stream }) => {
    if (type !== DATA || (flags & END_STREAM) === 0 || stream !== 1) return
    socket.setNoDelay(true)
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await setTimeout(15)
      socket.write(piece)
    }
  }
}

describe('a peer', () => {
  const atOnce = (frames: readonly Buffer[]): Buffer[] => [Buffer.concat(frames)]
  const alone = (frames: readonly Buffer[]): Buffer[] => [...frames]
  const cut = (frames: readonly Buffer[]): Buffer[] =>
    frames.flatMap((frame) => [frame.subarray(0, -4), frame.subarray(-4)])

  it.each([
    ['all at once', atOnce],
    ['frame by frame', alone],
    ['in the middle of frames', cut],
  ])('may pad, interrupt, prioritise, extend and announce, read %s', async (_, toPieces) => {
    const padded = (payload: Buffer): Buffer => Buffer.concat([Buffer.of(3), payload, Buffer.alloc(3)])
    const [first, second] = [RESPONSE.subarray(0, 7), RESPONSE.subarray(7)]
    const frames = [
      rawFrame(HEADERS, END_HEADERS, 1, rawHeaders({ ':status': '103', link: 'x' })),
      rawFrame(200, 255, 7, 'unknown'),
      rawFrame(HEADERS, PADDED | PRIORITY, 1, padded(Buffer.concat([Buffer.alloc(5), first]))),
      rawFrame(CONTINUATION, 0, 1),
      rawFrame(CONTINUATION, END_HEADERS, 1, second),
      rawFrame(DATA, PADDED, 1, padded(frame('reply').subarray(0, 6))),
      rawFrame(PING, 0, 0, 'pingpong'),
      rawFrame(2, 0, 1, Buffer.alloc(5)),
      rawFrame(DATA, 0, 1),
      rawFrame(DATA, 0, 1, frame('reply').subarray(6)),
      rawFrame(HEADERS, END_HEADERS | END_STREAM, 1, TRAILERS),
      rawFrame(RST, 0, 1, uint32(0)),
    ]
    const peer = await startRawPeer(replyingInPieces(toPieces(frames)))
    const reply = await transportTo(peer.address).unary(CALL, REQUEST)
    expect(Buffer.from(reply).toString()).toBe('reply')
    await waitUntil(() => peer.of(PING).length === 1)
    expect(peer.of(PING)).toMatchObject([{ flags: 1, payload: Buffer.from('pingpong') }])
  })

  it.each([
    ['a frame that is too large', 6, Buffer.from([0x40, 1, 0, 0, 0, 0, 0, 0, 1])],
    ['data on a stream that never began', 1, rawFrame(DATA, 0, 3, 'a')],
    ['headers on a stream of its own', 1, rawFrame(HEADERS, END_HEADERS, 2, RESPONSE)],
    ['a push', 1, rawFrame(PUSH, END_HEADERS, 1, Buffer.concat([uint32(2), RESPONSE]))],
    ['a continuation of nothing', 1, rawFrame(CONTINUATION, END_HEADERS, 1)],
    [
      'a header block that is interrupted',
      1,
      Buffer.concat([rawFrame(HEADERS, 0, 1, RESPONSE), rawFrame(PING, 0, 0, 'pingpong')]),
    ],
    [
      'a header block with data within',
      1,
      Buffer.concat([rawFrame(HEADERS, 0, 1, RESPONSE), rawFrame(DATA, 0, 1, 'a')]),
    ],
    [
      'a header block without end',
      11,
      Buffer.concat([
        rawFrame(HEADERS, 0, 1),
        ...Array.from({ length: 200 }, () => rawFrame(CONTINUATION, 0, 1)),
      ]),
    ],
    [
      'fields for the table far beyond the limit',
      11,
      rawBlock(1, Buffer.concat(Array<Buffer>(100).fill(CODED(0x40)))),
    ],
    ['fields of the table far beyond the limit', 11, rawBlock(1, Buffer.alloc(100_000, 0x82))],
    ['sizes of the table without end', 9, rawBlock(1, Buffer.alloc(3, 0x20))],
    ['a broken header block', 9, rawFrame(HEADERS, END_HEADERS, 1, Buffer.of(0x80))],
    ['more padding than bytes', 1, Buffer.concat([whole, rawFrame(DATA, PADDED, 1, Buffer.of(2, 0))])],
    ['a reset of nothing', 1, rawFrame(RST, 0, 0, uint32(0))],
    ['a reset that is too short', 1, rawFrame(RST, 0, 1, 'abc')],
    ['settings that are cut', 1, rawFrame(SETTINGS, 0, 0, 'abcde')],
    ['settings of a stream', 1, rawFrame(SETTINGS, 0, 1)],
    ['the server set a flow-control window that is too large', 3, rawSettings({ 4: 2 ** 31 })],
    ['a frame size below the least', 1, rawSettings({ 5: 100 })],
    ['a ping that is cut', 1, rawFrame(PING, 0, 0, 'ping')],
    ['a window that grows by nothing', 1, rawFrame(WINDOW, 0, 0, uint32(0))],
    ['a window of the connection that overflows', 3, rawFrame(WINDOW, 0, 0, uint32(2 ** 31 - 1))],
    ['a GOAWAY that is cut', 1, rawFrame(GOAWAY, 0, 0, 'goaway')],
  ] as const)('that sends %s is left with code %i', async (_what, code, bytes) => {
    const peer = await startRawPeer(replying(bytes))
    await expect(transportTo(peer.address).unary(CALL, REQUEST)).rejects.toMatchObject({
      status: 'UNAVAILABLE',
    })
    await waitUntil(() => peer.of(GOAWAY).length > 0)
    expect(peer.of(GOAWAY)[0]?.payload.readUInt32BE(4)).toBe(code)
  })

  it.each([
    ['data before headers', 1, [rawFrame(DATA, 0, 1, 'a')], 'INTERNAL'],
    ['headers in the middle', 1, [whole, whole], 'INTERNAL'],
    [
      'headers that hold too much',
      11,
      [
        rawFrame(
          HEADERS,
          END_HEADERS,
          1,
          Buffer.concat([kept('x', 'v'.repeat(120)), Buffer.alloc(500, 0xbe)]),
        ),
      ],
      'INTERNAL',
    ],
    ['a window of the stream that overflows', 3, [rawFrame(WINDOW, 0, 1, uint32(2 ** 31 - 1))], 'INTERNAL'],
  ] as const)('that sends %s has the call reset with code %i', async (_what, code, bytes, status) => {
    const peer = await startRawPeer(replying(...bytes))
    const transport = transportTo(peer.address)
    const call = transport.unary(CALL, REQUEST)
    await expect(call).rejects.toMatchObject({ status })
    await waitUntil(() => peer.of(RST).length === 1)
    expect(peer.of(RST)[0]?.payload.readUInt32BE(0)).toBe(code)
    expect(peer.of(GOAWAY)).toEqual([])
  })
})

describe('windows', () => {
  const message = frame(Buffer.alloc(16_379))
  const messages = (count: number): Buffer[] =>
    Array.from({ length: count }, () => rawFrame(DATA, 0, 1, message))
  const widenings = (frames: readonly { readonly stream: number }[]): number =>
    frames.filter(({ stream }) => stream === 1).length

  it('of a stream grow as it is read, and not before', async () => {
    const peer = await startRawPeer(replying(whole, ...messages(15), rawFrame(PING, 0, 0, 'pingpong')))
    const stream = transportTo(peer.address).stream(CALL, [REQUEST])
    const first = await stream.next()
    await waitUntil(() => peer.of(PING).length === 1)
    expect(first.value).toHaveLength(16_379)
    expect(widenings(peer.of(WINDOW))).toBe(0)
    for (let read = 1; read < 15; read++) await stream.next()
    await waitUntil(() => widenings(peer.of(WINDOW)) === 1)
    expect(peer.of(WINDOW).at(-1)?.payload.readUInt32BE(0)).toBe(15 * 16_384)
    await stream.return?.()
  })

  it('that are overrun end the call', async () => {
    const peer = await startRawPeer(replying(whole, ...messages(17)))
    const stream = transportTo(peer.address).stream(CALL, [REQUEST])
    await waitUntil(() => peer.of(RST).length === 1)
    expect(peer.of(RST)[0]?.payload.readUInt32BE(0)).toBe(3)
    for (let read = 0; read < 16; read++) expect((await stream.next()).done).toBe(false)
    await expect(stream.next()).rejects.toMatchObject({ status: 'INTERNAL' })
  })

  it('of the peer are kept to, also when they shrink below nothing', async () => {
    const sent = (stream: number): number =>
      peer.of(DATA).reduce((sum, data) => sum + (data.stream === stream ? data.payload.length : 0), 0)
    const peer = await startRawPeer(
      (socket, { type, flags, stream }) => {
        if (type === HEADERS && stream === 1) socket.write(rawSettings({ 4: 60 }))
        if (type === SETTINGS && (flags & ACK) !== 0 && sent(1) === 100) {
          socket.write(rawFrame(WINDOW, 0, 1, uint32(50)))
          socket.write(rawFrame(PING, 0, 0, 'pingpong'))
        }
        if (type === PING) socket.write(rawFrame(WINDOW, 0, 1, uint32(1_000)))
        if (type !== DATA || (flags & END_STREAM) === 0) return
        socket.write(rawFrame(HEADERS, END_HEADERS, stream, RESPONSE))
        socket.write(rawFrame(DATA, 0, stream, frame('reply')))
        socket.write(rawFrame(HEADERS, END_HEADERS | END_STREAM, stream, TRAILERS))
      },
      { 4: 100 },
    )
    const request = Buffer.alloc(500, 'abc')
    expect(await transportTo(peer.address).unary(CALL, request)).toHaveLength(5)
    // 100 at first; 60 + 50 is what it may be when the ping is answered; then the rest.
    const at = peer.frames.findIndex(({ type }) => type === PING)
    const before = peer.frames.slice(0, at).filter(({ type }) => type === DATA)
    expect(before.map(({ payload }) => payload.length)).toEqual([100, 10])
    expect(Buffer.concat(peer.of(DATA).map(({ payload }) => payload))).toEqual(frame(request))
  })

  it('of the connection are shared by all calls', async () => {
    const peer = await startRawPeer(
      (socket, { type, flags, stream }) => {
        if (type === PING) socket.write(rawFrame(WINDOW, 0, 0, uint32(200_000)))
        if (type !== DATA || (flags & END_STREAM) === 0) return
        socket.write(rawFrame(HEADERS, END_HEADERS | END_STREAM, stream, Buffer.concat([RESPONSE, TRAILERS])))
      },
      { 4: 2 ** 31 - 1 },
    )
    const transport = transportTo(peer.address, { keepalive: { timeMs: 60, timeoutMs: 5_000 } })
    const calls = Array.from({ length: 3 }, () => transport.unary(CALL, Buffer.alloc(40_000)).catch(String))
    await waitUntil(() => peer.of(PING).length > 0)
    const at = peer.frames.findIndex(({ type }) => type === PING)
    const before = peer.frames.slice(0, at).filter(({ type }) => type === DATA)
    expect(before.reduce((sum, { payload }) => sum + payload.length, 0)).toBe(65_535)
    await Promise.all(calls)
    expect(peer.of(DATA).filter(({ flags }) => flags === END_STREAM)).toHaveLength(3)
  })
})

it('a call that GOAWAYs leave out again and again is sent until it is taken', async () => {
  let asked = 0
  const peer = await startRawPeer((socket, { type, flags, stream }) => {
    if (type !== DATA || (flags & END_STREAM) === 0) return
    if (asked++ < 6) return void socket.write(rawFrame(GOAWAY, 0, 0, Buffer.alloc(8)))
    socket.write(rawFrame(HEADERS, END_HEADERS, stream, RESPONSE))
    socket.write(rawFrame(DATA, 0, stream, frame('reply')))
    socket.write(rawFrame(HEADERS, END_HEADERS | END_STREAM, stream, TRAILERS))
  })
  expect(await transportTo(peer.address).unary(CALL, REQUEST)).toHaveLength(5)
  expect(asked).toBe(7)
})

it('a peer that asks for answers and reads none is left', async () => {
  // So many in a second are within their budget.
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const ping = Buffer.concat(Array.from({ length: 500 }, () => rawFrame(PING, 0, 0, 'pingpong')))
  const peer = await startRawPeer((socket, { type, stream }) => {
    if (type !== HEADERS || stream !== 1) return
    socket.pause()
    const flood = (): void => {
      if (socket.destroyed) return
      vi.advanceTimersByTime(1_001)
      if (socket.write(ping)) setImmediate(flood)
      else socket.once('drain', flood)
    }
    flood()
  })
  const call = transportTo(peer.address).unary(CALL, REQUEST)
  await expect(call).rejects.toMatchObject({
    status: 'UNAVAILABLE',
    message: expect.stringContaining('does not read the acknowledgements'),
  })
})
