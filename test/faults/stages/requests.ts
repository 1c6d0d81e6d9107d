import type { Random } from '@vinyasa/test-kit'

export interface Drawn {
  readonly way: string
  readonly request: Buffer
}

const JSON_TYPE = 'application/json'

function post(body: string, type: string, headers = ''): Buffer {
  const bytes = Buffer.from(body, 'latin1')
  const head = `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${bytes.length}\r\nx-graphql-yoga-csrf: 1\r\n${headers}\r\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes])
}

const json = (body: unknown, headers?: string): Buffer => post(JSON.stringify(body), JSON_TYPE, headers)

/** A query whose resolver never answers. */
export const HANGING: Buffer = json({ query: '{ hang }' })

const part = (head: string, content: string): string => `--b\r\n${head}\r\n${content}\r\n`
const named = (name: string, content: string): string =>
  part(`content-disposition: form-data; name="${name}"\r\n`, content)
const file = (name: string, content: string): string =>
  part(
    `content-disposition: form-data; name="${name}"; filename="f"\r\ncontent-type: application/octet-stream\r\n`,
    content,
  )
const form = (body: string): Buffer => post(body, 'multipart/form-data; boundary=b')

const UPLOAD =
  named('operations', '{"query":"mutation($f: Upload!) { size(f: $f) }","variables":{"f":null}}') +
  named('map', '{"0":["variables.f"]}')

const WAYS: Readonly<Record<string, (random: Random) => Buffer>> = {
  JSON: () => json({ query: '{ hello }' }),
  'a known query': () => json({ query: 'query A { hello }', variables: { a: 1 } }),
  GET: () =>
    Buffer.from(
      `GET /graphql?query=${encodeURIComponent('{ hello }')} HTTP/1.1\r\nHost: x\r\nx-graphql-yoga-csrf: 1\r\n\r\n`,
    ),
  HEAD: () => Buffer.from('HEAD /graphql HTTP/1.1\r\nHost: x\r\n\r\n'),
  OPTIONS: () => Buffer.from('OPTIONS /graphql HTTP/1.1\r\nHost: x\r\nOrigin: http://y\r\n\r\n'),
  PUT: () => Buffer.from('PUT /graphql HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}'),
  'a batch': (random) => json(Array.from({ length: 1 + random.below(5) }, () => ({ query: '{ hello }' }))),
  'a form': () =>
    post(`query=${encodeURIComponent('{ hello }')}&variables={}`, 'application/x-www-form-urlencoded'),
  text: () => post('{ hello }', 'application/graphql'),
  'an upload': (random) => form(`${UPLOAD}${file('0', 'x'.repeat(random.below(100_000)))}--b--\r\n`),
  'an upload without its file': () => form(`${UPLOAD}--b--\r\n`),
  defer: () =>
    json({ query: '{ hello ... @defer { late } }' }, 'Accept: multipart/mixed, application/json\r\n'),
  'an event stream': () => json({ query: 'subscription { ticks }' }, 'Accept: text/event-stream\r\n'),
  'a live query': () => json({ query: 'query @live { hello }' }, 'Accept: text/event-stream\r\n'),
  'what hangs': () => HANGING,
  'an upgrade to nothing': () =>
    Buffer.from('GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n'),
  probes: () => Buffer.from('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n'),
}

export function wholeRequest(random: Random): Drawn {
  const way = random.pick(Object.keys(WAYS))
  return { way, request: (WAYS[way] as (random: Random) => Buffer)(random) }
}

const HEADS: readonly string[] = [
  '',
  'x-y: z\r\n',
  'no header\r\n',
  'content-disposition: attachment\r\n',
  'content-disposition: form-data\r\n',
  'content-disposition: form-data; name=""\r\n',
  'content-disposition: form-data; name="a\rb"\r\n',
  'content-disposition: form-data; filename="a"\r\n',
  'content-disposition: form-data\r\ncontent-type: application/octet-stream\r\n',
  'content-disposition: form-data; name="9"; filename="a"\r\n',
  'content-disposition: form-data; name="0"; filename="a"\r\ncontent-transfer-encoding: base64\r\n',
  'content-disposition: form-data; name="a"\r\ncontent-type: text/plain; charset=nope\r\n',
  `content-disposition: form-data; name="${'n'.repeat(90_000)}"\r\n`,
]
const SIZES: readonly number[] = [0, 1, 100, 16_000, 17_000, 40_000, 70_000, 300_000, 700_000]
const ENDS: readonly string[] = ['--b--\r\n', '--b--', '--b', '', '--b--\r\nmore', '--b\r\n\r\n']
const BEFORE: readonly string[] = [
  '',
  UPLOAD,
  named('operations', '{"query":"{ hello }"}'),
  named('operations', '{"query":"{ hello }"}') + named('map', '{}'),
  named('map', '{}'),
  named('operations', '5'),
  'preamble\r\n',
]

/** A form one of whose parts is none that anybody can use. */
export function malformedParts(random: Random): Drawn {
  const head = random.pick(HEADS)
  const size = random.pick(SIZES)
  const end = random.pick(ENDS)
  const before = random.pick(BEFORE)
  const way = `a part "${head.slice(0, 50).trim()}" of ${size} bytes, ended by ${JSON.stringify(end)}`
  return { way, request: form(before + part(head, 'x'.repeat(size)) + end) }
}
