import type { Random } from '@vinyasa/test-kit'
import { HANGING, malformedParts, wholeRequest } from './requests.ts'

/** What a client puts on a connection, and how. */
export interface StageCase {
  /** In words, for whom it concerns. */
  readonly name: string
  readonly bytes: Buffer
  /** So many bytes at a time, or all at once. */
  readonly pieces: number
  readonly betweenMs: number
  /** What it does behind them. */
  readonly after: 'wait' | 'end' | 'reset'
}

type Change = (request: Buffer, random: Random) => Buffer

const text =
  (change: (request: string, random: Random) => string): Change =>
  (request, random) =>
    Buffer.from(change(request.toString('latin1'), random), 'latin1')

const withHeader = (line: string): Change => text((request) => request.replace('\r\n', `\r\n${line}\r\n`))

const chunked = (write: (body: string, random: Random) => string): Change =>
  text((request, random) => {
    const [head = '', ...body] = request.split('\r\n\r\n')
    const rest = body.join('\r\n\r\n')
    return `${head.replace(/content-length: \d+/i, 'Transfer-Encoding: chunked')}\r\n\r\n${write(rest, random)}`
  })

const chunk = (body: string, extension = ''): string =>
  body === '' ? '' : `${Buffer.byteLength(body, 'latin1').toString(16)}${extension}\r\n${body}\r\n`

/** What is wrong with a request; nothing is wrong with some. */
const CHANGES: Readonly<Record<string, Change>> = {
  whole: (request) => request,
  cut: (request, random) => request.subarray(0, random.below(request.length)),
  'cut in its last bytes': (request, random) => request.subarray(0, request.length - 1 - random.below(8)),
  'bytes changed': (request, random) => {
    const changed = Buffer.from(request)
    for (let times = 1 + random.below(4); times > 0; times--)
      changed[random.below(changed.length)] = random.below(256)
    return changed
  },
  'bytes left out': (request, random) => {
    const at = random.below(request.length)
    return Buffer.concat([request.subarray(0, at), request.subarray(at + 1 + random.below(30))])
  },
  'bytes twice': (request, random) => {
    const at = random.below(request.length)
    return Buffer.concat([request.subarray(0, at), request.subarray(Math.max(0, at - random.below(60)))])
  },
  'a length that is too large': text((request) =>
    request.replace(/content-length: (\d+)/i, 'Content-Length: 9$1'),
  ),
  'a length that is too small': text((request) => request.replace(/content-length: \d/i, 'Content-Length: ')),
  'no length': text((request) => request.replace(/content-length: \d+\r\n/i, '')),
  'a negative length': text((request) => request.replace(/content-length: /i, 'Content-Length: -')),
  'two lengths': withHeader('Content-Length: 3'),
  'an announced gigabyte': text((request) =>
    request.replace(/content-length: \d+/i, 'Content-Length: 1073741824'),
  ),
  'gzip that is none': withHeader('Content-Encoding: gzip'),
  'an unknown encoding': withHeader('Content-Encoding: foo, br'),
  'an unknown transfer coding': withHeader('Transfer-Encoding: foo'),
  'length and chunks': withHeader('Transfer-Encoding: chunked'),
  'chunks of any size': chunked((body, random) => {
    let out = ''
    for (let at = 0; at < body.length;) {
      const size = 1 + random.below(40)
      out += chunk(body.slice(at, at + size), random.chance(0.2) ? ';a=b' : '')
      at += size
    }
    return `${out}0\r\n${random.chance(0.3) ? 'x: y\r\n' : ''}\r\n`
  }),
  'chunks without an end': chunked((body) => chunk(body)),
  'a chunk of no size': chunked((body) => `zz\r\n${body}\r\n0\r\n\r\n`),
  'a chunk of all sizes': chunked((body) => `ffffffffffffffff\r\n${body}`),
  'a continuation that is waited for': withHeader('Expect: 100-continue'),
  'another expectation': withHeader('Expect: 200-ok'),
  'an unknown type': text((request) => request.replace(/content-type: [^\r\n]+/i, 'Content-Type: a/b; c')),
  'a type of two': text((request) => request.replace(/(content-type: [^\r\n]+)/i, '$1, text/plain')),
  'a charset that is none': text((request) =>
    request.replace(/(content-type: [^\r\n;]+)/i, '$1; charset=nope'),
  ),
  oversized: text((request) => {
    const [head = '', body = ''] = request.split('\r\n\r\n', 2)
    const large = body + ' '.repeat(1_200_000)
    return `${head.replace(/content-length: \d+/i, `Content-Length: ${large.length}`)}\r\n\r\n${large}`
  }),
  'two at once': (request) => Buffer.concat([request, request]),
  'one that hangs in front': (request) => Buffer.concat([HANGING, request]),
  'a head without an end': text((request) => request.replace('\r\n\r\n', '\r\nx: y\r\n')),
  'bare line feeds': text((request) => request.replaceAll('\r\n', '\n')),
}

export function drawCase(random: Random): StageCase {
  const isParts = random.chance(0.25)
  const { way, request } = isParts ? malformedParts(random) : wholeRequest(random)
  const change = random.pick(Object.keys(CHANGES))
  const bytes = (CHANGES[change] as Change)(request, random)
  const isSlow = random.chance(0.15)
  const after = random.chance(0.8) ? 'wait' : random.chance(0.7) ? 'end' : 'reset'
  return {
    name: `${way}, ${change}${isSlow ? ', slowly' : ''}, then ${after}`,
    bytes,
    pieces: isSlow ? Math.max(1, Math.ceil(bytes.length / (2 + random.below(20)))) : bytes.length,
    betweenMs: random.below(60),
    after,
  }
}
