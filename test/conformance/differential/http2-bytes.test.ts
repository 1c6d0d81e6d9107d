import { once } from 'node:events'
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  constants,
  createServer as createHttp2Server,
  type OutgoingHttpHeaders,
  sensitiveHeaders,
} from 'node:http2'
import { type AddressInfo, connect, createServer } from 'node:net'
import { createDisposables, createRandom } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { Flag, FrameParser, Type, unpadded } from '../../../packages/grpc-transport/src/http2/frame-parser.ts'
import { HeaderBlocks } from '../../../packages/grpc-transport/src/http2/header-blocks.ts'

// What Node's HTTP/2 server writes is read by Node's client, and by the reader of grpc-transport: the same bytes, cut anywhere.

interface Wanted {
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly trailers: readonly (readonly [name: string, value: string])[]
  readonly isSecret: boolean
  readonly body: Uint8Array
}

/** All that one stream brought. */
interface Brought {
  readonly blocks: string[][]
  body: string
  isEnd: boolean
}

const names = fc.constantFrom('x-a', 'x-b', 'etag', 'server', 'grpc-message', `x-${'long-'.repeat(30)}name`)
/** Without space at their ends, for which RFC 9113 has no field: Node's client leaves such a one out. */
const values = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)) }),
  fc.constantFrom('', 'same', 'same again', '0', 'a b', '%F0%9F', '~'.repeat(300)),
  fc.nat(6_000).map((length) => `${'kept in no table '.repeat(length / 17)}.`),
  fc.nat(40_000).map((length) => '\\'.repeat(length)),
)
const fields = fc.uniqueArray(fc.tuple(names, values), { selector: ([name]) => name, maxLength: 5 })
const wanted: fc.Arbitrary<Wanted> = fc.record({
  headers: fields,
  trailers: fields,
  isSecret: fc.boolean(),
  body: fc
    .uint8Array({ maxLength: 3_000 })
    .map((some) => (some.length > 2_500 ? Buffer.alloc(40_000, 7) : some)),
})

const toHeaders = (list: Wanted['headers'], isSecret = false): OutgoingHttpHeaders => ({
  ...Object.fromEntries(list),
  ...(isSecret && { [sensitiveHeaders]: list.map(([name]) => name) }),
})

/** A server of Node's on a wire that is listened to. */
async function openWire(paddingStrategy: number) {
  const cleanup = createDisposables(onTestFinished)
  const queue: Wanted[] = []
  const server = createHttp2Server({ paddingStrategy, maxSendHeaderBlockLength: 1_000_000 })
  server.on('stream', (stream) => {
    const { headers, trailers, isSecret, body } = queue.shift() as Wanted
    const waitForTrailers = trailers.length > 0
    stream.respond({ ':status': 200, ...toHeaders(headers, isSecret) }, { waitForTrailers })
    stream.once('wantTrailers', () => stream.sendTrailers(toHeaders(trailers, isSecret)))
    stream.end(body)
  })
  const pieces: Buffer[] = []
  const wire = createServer((client) => {
    const upstream = connect((server.address() as AddressInfo).port, '127.0.0.1')
    client.pipe(upstream)
    upstream.pipe(client)
    upstream.on('data', (piece: Buffer) => void pieces.push(piece))
    for (const socket of [client, upstream]) socket.on('error', () => {})
  })
  for (const one of [server, wire]) {
    await once(one.listen(0, '127.0.0.1'), 'listening')
    cleanup.use({ close: () => one.close() })
  }
  const session = connectHttp2(`http://127.0.0.1:${(wire.address() as AddressInfo).port}`, {
    settings: { maxHeaderListSize: 1_000_000 },
  })
  cleanup.use({ close: () => session.destroy() })
  return { session, pieces, want: (one: Wanted) => void queue.push(one) }
}

/** What Node's client reads of the next answer. */
async function readByNode(session: ClientHttp2Session): Promise<Brought> {
  const stream = session.request({ ':path': '/' })
  const blocks: string[][] = []
  for (const event of ['response', 'trailers'])
    stream.on(event, (_headers: object, _flags: number, raw: string[]) => void blocks.push([...raw]))
  const body: Buffer[] = []
  stream.on('data', (piece: Buffer) => void body.push(piece))
  await once(stream, 'close')
  return { blocks, body: Buffer.concat(body).toString('hex'), isEnd: stream.rstCode === 0 }
}

/** What the reader of the package makes of the bytes, by streams in their order. */
function readHere(bytes: Buffer, cutAt: () => number): readonly Brought[] {
  const streams = new Map<number, Brought>()
  const blocks = new HeaderBlocks()
  const at = (stream: number): Brought => {
    const brought = streams.get(stream) ?? { blocks: [], body: '', isEnd: false }
    streams.set(stream, brought)
    return brought
  }
  const parser = new FrameParser({
    data(flags, stream, piece, isLast) {
      at(stream).body += piece.toString('hex')
      if (isLast && (flags & Flag.END_STREAM) !== 0) at(stream).isEnd = true
    },
    frame(type, flags, stream, payload) {
      if (type === Type.DATA) {
        at(stream).body += unpadded(flags, payload).toString('hex')
        if ((flags & Flag.END_STREAM) !== 0) at(stream).isEnd = true
      }
      const isBlock = type === Type.HEADERS || type === Type.CONTINUATION
      const block = !isBlock
        ? undefined
        : type === Type.HEADERS
          ? blocks.begin(flags, stream, payload)
          : blocks.continue(flags, payload)
      if (!block) return
      at(block.stream).blocks.push(block.list?.fields ?? ['too much'])
      if (block.isEnd) at(block.stream).isEnd = true
    },
  })
  for (let from = 0; from < bytes.length;) {
    const to = from + cutAt()
    parser.push(bytes.subarray(from, to))
    from = to
  }
  return [...streams].toSorted(([one], [other]) => one - other).map(([, brought]) => brought)
}

const isTooMuch = (fields: readonly string[]): boolean =>
  fields.reduce((sum, text) => sum + text.length + 16, 0) > 65_535

it.each([
  ['no padding', constants.PADDING_STRATEGY_NONE],
  ['frames filled up', constants.PADDING_STRATEGY_MAX],
])('answers of Node’s server come here as at Node’s client: %s', async (_what, padding) => {
  await fc.assert(
    fc.asyncProperty(fc.array(wanted, { minLength: 1, maxLength: 6 }), fc.nat(), async (all, seed) => {
      const { session, pieces, want } = await openWire(padding)
      const node: Brought[] = []
      for (const one of all) {
        want(one)
        node.push(await readByNode(session))
      }
      session.destroy()
      const random = createRandom(seed, 'cuts')
      const most = random.pick([1, 9, 100, 20_000])
      const here = readHere(Buffer.concat(pieces), () => 1 + random.below(most))
      expect(here).toEqual(
        node.map((one) => ({
          ...one,
          blocks: one.blocks.map((fields) => (isTooMuch(fields) ? ['too much'] : fields)),
        })),
      )
    }),
    { numRuns: 30, seed: 1 },
  )
})
