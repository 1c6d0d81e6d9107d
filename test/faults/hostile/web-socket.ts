import type { Random } from '@vinyasa/test-kit'

const UPGRADE =
  'GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n'
const [TEXT, CLOSE, PING] = [1, 8, 9]
const TYPES = [
  'subscribe',
  'subscribe',
  'subscribe',
  'complete',
  'ping',
  'pong',
  'connection_init',
  'next',
  '__proto__',
  1,
  null,
]
const IDS = ['a', 'a', 'b', '__proto__', 'constructor', '', 'x'.repeat(300), 1, null, {}]
const PAYLOADS = [
  { query: 'query @live { a { id } }' },
  { query: 'query @live { deep }' },
  { query: '{ a { id name } }' },
  { query: '{ deep }' },
  { query: '{ a { id ... @defer { name } } }' },
  { query: '{ nope }' },
  { query: '{' },
  { query: 1 },
  { query: '{ a { id } }', variables: 'x' },
  { query: '{ a { id } }', operationName: [], extensions: 1 },
  { headers: { authorization: '\n' } },
  undefined,
  null,
  1,
  'x',
  [],
]

function frame(opcode: number, payload: string | Uint8Array, first = 0x80): Buffer<ArrayBuffer> {
  const bytes = Buffer.from(payload)
  const length = bytes.length < 126 ? [bytes.length] : [126, bytes.length >> 8, bytes.length & 0xff]
  // A mask of zeros changes nothing.
  return Buffer.concat([Buffer.of(first | opcode, 0x80 | length[0]!, ...length.slice(1), 0, 0, 0, 0), bytes])
}

/** What a client sends on one WebSocket: messages of any kind, and frames that break the protocol. */
export function hostileSocket(random: Random): Buffer {
  const frames = [Buffer.from(UPGRADE)]
  if (random.chance(0.8)) frames.push(frame(TEXT, '{"type":"connection_init"}'))
  for (let count = random.below(20); count > 0; count--) {
    const message = { type: random.pick(TYPES), id: random.pick(IDS), payload: random.pick(PAYLOADS) }
    frames.push(frame(TEXT, JSON.stringify(message)))
  }
  if (random.chance(0.5)) frames.push(random.pick(LAST)(random))
  return Buffer.concat(frames)
}

const noise = (random: Random): Buffer<ArrayBuffer> =>
  Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256)))
const LAST: readonly ((random: Random) => Buffer<ArrayBuffer>)[] = [
  noise,
  (random) => frame(random.below(16), noise(random), random.below(16) << 4),
  (random) => frame(CLOSE, noise(random).subarray(0, 3)),
  (random) => frame(TEXT, noise(random)),
  () => frame(PING, 'x'.repeat(126)),
  () =>
    Buffer.concat([
      frame(TEXT, '{', 0),
      ...Array.from({ length: 500 }, () => frame(0, '', 0)),
      frame(0, '}'),
    ]),
  () => Buffer.of(0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
  () => frame(TEXT, `{"type":"connection_init","payload":${'['.repeat(30_000)}${']'.repeat(30_000)}}`),
]
