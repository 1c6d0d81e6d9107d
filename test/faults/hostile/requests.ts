import type { Random } from '@vinyasa/test-kit'

const METHODS = ['GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'CONNECT', 'TRACE', 'get', 'QUERY']
const TARGETS = [
  '/',
  '*',
  '//',
  'http://a/graphql',
  'http://u:p@a:99999/graphql',
  'https://[::1]/graphql',
  'data:,x',
  '/%',
  '/graphql?query=%7Ba%7Bid%7D%7D',
  '/graphql?query={&variables=%',
  '/graphql?query=%E0%A4%A',
  '/graphql/%00',
  '/graphql?query=%7Ba%7Bid%7D%7D&extensions=%7B%22__proto__%22%3A1%7D&__proto__=1',
  '/graphql\xff',
  '/..%2f',
  '/graphql/live',
  '/health/live',
  '/health/ready',
  '/metrics',
  '/status',
  '/status/live',
  '/invalidate',
  `/graphql?variables=${'['.repeat(3000)}`,
  `/graphql?${'a=b&'.repeat(2000)}`,
]
const HOSTS = ['x', 'x', 'x', '', 'a b', 'u:p@h', '[', '[::1]', 'h:99999', '\xff', 'x/y?z#w', 'x\tx']
const HEADERS = [
  'Connection: close',
  'Connection: Upgrade\r\nUpgrade: websocket',
  'Upgrade: h2c',
  'Expect: 100-continue',
  'Expect: x',
  'Content-Length: 5',
  'Content-Length: -1',
  'Content-Length: 5\r\nContent-Length: 6',
  `Content-Length: ${'9'.repeat(20)}`,
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: x',
  'Trailer: X',
  'TE: trailers',
  'Content-Type: application/json; charset=utf-16',
  'Content-Type: multipart/form-data',
  'Content-Type: \xff',
  'Content-Type: multipart/form-data; boundary=b',
  'Content-Type: application/graphql',
  'Content-Type: text/plain',
  'Content-Encoding: gzip',
  'Accept: text/event-stream',
  'Accept: multipart/mixed',
  'Accept: \xff;q=x',
  'Accept: text/html',
  'Origin: null',
  'Origin: \xff',
  'Cookie: a=b',
  'Authorization: \xff',
  'x-request-id: \x01',
  'traceparent: 00-0-0-0',
  'If-None-Match: *',
  '__proto__: x',
  'constructor: y',
  'X: \x00',
  'X: \x7f\x80',
  ' X: folded',
  'X : y',
  ': y',
  'x-graphql-csrf: 1',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Protocol: ,,,',
  `Accept: ${'*/*,'.repeat(500)}`,
  `X-Flood: ${'a'.repeat(9000)}`,
]
const part = (name: string, text: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`
const BODIES = [
  '{"query":"{ a { id } }"}',
  '{"query":"query @live { a { id } }"}',
  '{"query":"{ a { id ... @defer { name } } }"}',
  '{"query":"{ deep }"}',
  '{"query":"query @live { deep }"}',
  '{"query":"mutation { write }"}',
  '{"query":"subscription { x }"}',
  '[]',
  '[null]',
  '[{"query":1}]',
  '{',
  'null',
  '1',
  '"x"',
  '\xff\xfe',
  '\0'.repeat(99),
  '['.repeat(50_000),
  'query=%',
  '{"query":null}',
  '{"query":{}}',
  '{"query":"{ a { id } }","operationName":{}}',
  '{"query":"{ a { id } }","variables":[]}',
  '{"__proto__":{"query":"{ a { id } }"}}',
  '{"query":"{ a { id } }","variables":{"__proto__":{"a":1},"constructor":1}}',
  '{"query":"{ a { id } }","extensions":{"persistedQuery":{"version":1,"sha256Hash":"x"}}}',
  `{"query":"query($v:JSON){echo(v:$v)}","variables":{"v":${'['.repeat(9000)}${']'.repeat(9000)}}}`,
  `${part('operations', '{"query":"{ a { id } }"}')}${part('map', '{"0":["__proto__.x","variables.__proto__.x"]}')}${part('0', 'x')}--b--`,
  `${part('operations', '[]')}${part('map', '[1]')}--b--`,
  part('operations', '{"query"'),
]

/** One request, or several behind each other, that no client should send: some whole, some cut or changed anywhere. */
export function hostileRequests(random: Random): Buffer {
  const count = random.chance(0.8) ? 1 : 1 + random.below(6)
  let bytes = ''
  for (let index = 0; index < count; index++) bytes += hostileRequest(random)
  if (random.chance(0.15)) {
    const at = random.below(bytes.length)
    bytes = bytes.slice(0, at) + String.fromCharCode(random.below(256)) + bytes.slice(at + random.below(3))
  }
  return Buffer.from(bytes, 'latin1')
}

function hostileRequest(random: Random): string {
  const lines = random.chance(0.9) ? [`Host: ${random.pick(HOSTS)}`] : []
  for (let count = random.below(6); count > 0; count--) lines.push(random.pick(HEADERS))
  const text = random.chance(0.7) ? random.pick(BODIES) : ''
  let body = text
  if (text !== '') {
    lines.push(
      `Content-Type: ${text.startsWith('--b') ? 'multipart/form-data; boundary=b' : 'application/json'}`,
    )
    if (random.chance(0.7)) lines.push(`Content-Length: ${text.length}`)
    else {
      lines.push('Transfer-Encoding: chunked')
      body = `${text.length.toString(16)};x=\xff\r\n${text}\r\n0\r\nX-Trailer: \xff\r\n\r\n`
      if (random.chance(0.3)) body = body.slice(0, random.below(body.length))
    }
  }
  const method = random.chance(0.7) ? 'POST' : random.pick(METHODS)
  const target = random.chance(0.5) ? '/graphql' : random.pick(TARGETS)
  return `${method} ${target} HTTP/1.${random.chance(0.9) ? 1 : 0}\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}
