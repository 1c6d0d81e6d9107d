import { createServer, type AddressInfo, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Random } from '@vinyasa/test-kit'

const BODY = '{"id":"1","name":"Ada"}'
const DEEP = `${'['.repeat(50_000)}${']'.repeat(50_000)}`

function answer(headers = '', body = BODY, status = '200 OK'): string {
  const type = headers.includes('Content-Type') ? '' : 'Content-Type: application/json\r\n'
  return `HTTP/1.1 ${status}\r\n${type}${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}
const chunked = (body: string): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${body}`

const HOSTILE: readonly string[] = [
  '',
  'garbage\r\n\r\n',
  'HTTP/1.1 abc\r\n\r\n',
  'HTTP/9.9 200 OK\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  ...[
    'Content-Length: 5',
    'Content-Length: 5000',
    'Content-Length: -1',
    'Content-Length: 5\r\nContent-Length: 6',
  ].map((header) => `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${header}\r\n\r\n${BODY}`),
  chunked('zz\r\n'),
  chunked('5\r\n{"id"'),
  chunked(`17\r\n${BODY}\r\n0\r\n__proto__: x\r\nconstructor: y\r\n\r\n`),
  ...['\xff/\xfe', 'text/html', 'application/json; charset=\xff'].map((type) =>
    answer(`Content-Type: ${type}\r\n`),
  ),
  ...['gzip', '__proto__', 'gzip,'.repeat(500)].map((name) => answer(`Content-Encoding: ${name}\r\n`)),
  ...[
    '__proto__: a\r\nconstructor: b\r\nconstructor: c\r\n',
    'X: a\0b\r\n',
    ': x\r\n',
    'Set-Cookie: \xff=;;;\r\n',
    'Keep-Alive: timeout=-5\r\n',
  ].map((header) => answer(header)),
  ...[
    'null',
    '1',
    '[[]]',
    '{"id":',
    '',
    `{"id":"1","any":${DEEP}}`,
    DEEP,
    '{"__proto__":{"id":"9"},"id":{"a":1}}',
    '{"id":123456789012345678901234567890}',
  ].map((body) => answer('', body)),
  ...['100 Continue', '103 Early', '204 No', '205 Reset', '304 NM', '426 U', '999 X', '000 X'].map((status) =>
    answer('', BODY, status),
  ),
  ...['/a', '/deep', 'http://[', 'javascript:1', 'http://127.0.0.1:1/'].map((to) =>
    answer(`Location: ${to}\r\n`, '', '302 F'),
  ),
  ...['99999999999999999999', '-1', 'Fri, 31 Dec 9999 23:59:59 GMT'].map((at) =>
    answer(`Retry-After: ${at}\r\n`, '', '503 X'),
  ),
  'HTTP/1.1 103 Early\r\nLink: x\r\n\r\n'.repeat(500) + answer(),
  `HTTP/1.1 200 OK\r\n${'X: a\r\n'.repeat(20_000)}`,
  `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(200_000)}\r\n\r\n`,
  answer().repeat(3),
]
const BOMB = gzipSync(Buffer.alloc(30_000_000))
const BOMB_HEAD = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${BOMB.length}\r\n\r\n`

/** Answers a request with what no HTTP server sends, whole or cut, and may end or reset the connection. */
export function answerBadly(socket: Socket, random: Random): void {
  if (random.chance(0.05)) {
    socket.write(Buffer.concat([Buffer.from(BOMB_HEAD), BOMB]))
    return
  }
  const bytes = Buffer.from(random.pick(HOSTILE), 'latin1')
  socket.write(random.chance(0.8) ? bytes : bytes.subarray(0, random.below(bytes.length)))
  if (random.chance(0.2)) socket.resetAndDestroy()
  else if (random.chance(0.3)) socket.end()
}

export interface HostileRest {
  readonly url: string
  /** Undefined: from now on it answers as it should. */
  misbehave(random: Random | undefined): void
  [Symbol.asyncDispose](): Promise<void>
}

/** A REST backend that answers with what no HTTP server sends, whole, cut, or in pieces. */
export async function startHostileRest(): Promise<HostileRest> {
  const sockets = new Set<Socket>()
  let random: Random | undefined
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    if (random?.chance(0.05)) socket.write(answer())
    socket.on('data', () => {
      if (random) answerBadly(socket, random)
      else socket.write(answer())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
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
