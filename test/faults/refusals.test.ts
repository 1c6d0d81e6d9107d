import { connect } from 'node:net'
import { createDisposables, startRestBackend } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { END_STREAM, fields, headers } from './hostile/frames.ts'
import { startRawGrpc } from './hostile/raw-grpc.ts'
import { recordFigure } from './support/figures.ts'
import { startGateway, type RunningGateway } from './support/gateway.ts'

const PROTO = `syntax = "proto3"; package e;
service Errors { rpc GetError(GetErrorRequest) returns (Error); }
message GetErrorRequest { int32 code = 1; }
message Error { int32 code = 1; }`
/** Every code of gRPC but OK. */
const GRPC_CODES = Array.from({ length: 16 }, (_, index) => index + 1)
const STATUSES = [400, 401, 403, 404, 409, 410, 418, 422, 429, 451, 500, 501, 502, 503, 504]
/** Written by backends for those who run them. */
const INTERNAL = 'relation users_v7 of db-3 has no row'
/** What only the server's own files and modules are named. */
const INSIDE = /node_modules|\.[jt]s:\d|\n {4}at |TypeError|Invalid URL|graphql-yoga|whatwg|users_v7/

const disposables = createDisposables(afterAll)
let gateway: RunningGateway

beforeAll(async () => {
  const grpc = disposables.use(
    await startRawGrpc({
      onRequest(_socket, stream, message, send) {
        const trailers = fields([
          [':status', '200'],
          ['content-type', 'application/grpc'],
          ['grpc-status', String(message[1])],
          ['grpc-message', INTERNAL],
        ])
        send([headers(END_STREAM, stream, trailers)])
      },
    }),
  )
  const rest = disposables.use(
    await startRestBackend(({ url }) => ({
      status: Number(url.searchParams.get('status')),
      json: { message: INTERNAL },
    })),
  )
  gateway = disposables.use(
    await startGateway({
      args: ['--preset', 'production'],
      untilReady: false,
      config: {
        metrics: true,
        grpc: {
          secretive: {
            endpoint: grpc.address,
            protoText: { 'e.proto': PROTO },
            methods: { 'e.Errors.GetError': { schema: { name: 'error' } } },
          },
        },
        rest: {
          inventory_v7: {
            baseUrl: rest.url,
            noRetry: true,
            endpoints: [
              { name: 'taking', path: '/taking', args: { any: 'JSON' }, queryParams: { any: '{any}' } },
              {
                name: 'failing',
                path: '/failing',
                args: { status: 'Int!' },
                queryParams: { status: '{status}' },
              },
            ],
          },
        },
      },
    }),
  )
})

/** Sends bytes and resolves to all that comes back until the server has been silent for a while or ends. */
function exchange(bytes: string): Promise<string> {
  const { hostname, port } = new URL(gateway.url)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), hostname, () => socket.write(bytes, 'latin1'))
    socket.setTimeout(1_000, () => socket.destroy())
    socket.setEncoding('latin1').on('data', (part: string) => (text += part))
    socket.once('close', () => resolve(text)).once('error', reject)
  })
}

function post(body: string, extra = ''): string {
  return `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${extra}\r\n${body}`
}

const firstLines = (answers: readonly string[]): string =>
  [...new Set(answers.map((answer) => answer.split('\r\n')[0]))].join('; ')

describe('Host', () => {
  it.each(['a:b', '[', '%', 'a b', 'x/metrics', 'x/metrics?', 'x/metrics#', 'x\\metrics?', '@', 'a:1:2', ''])(
    '"%s" decides nothing, and tells nothing',
    async (host) => {
      const get = (path: string): string =>
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nX-GraphQL-Yoga-CSRF: 1\r\nConnection: close\r\n\r\n`
      const answers = await Promise.all([
        exchange(get('/graphql')),
        exchange(get('/health/live')),
        exchange(
          post('{"query":"{ __typename }"}', 'Connection: close\r\n').replace('Host: x', `Host: ${host}`),
        ),
      ])
      recordFigure({
        area: 'HTTP',
        fault: `Host: ${host}`,
        asked: '400, or what the target says',
        seen: firstLines(answers),
      })
      for (const answer of answers) {
        expect(answer).toMatch(/^HTTP\/1\.1 [24]\d\d /)
        expect(answer).not.toMatch(INSIDE)
      }
      expect(answers[0]).not.toMatch(/^# HELP /m)
    },
  )
})

it('a body with the members of a response is a request without a query', async () => {
  const answers = await Promise.all(
    [{}, { headers: {} }, { headersInit: { 'x-mine': '1' } }].map((members) =>
      exchange(
        post(
          JSON.stringify({ status: 200, headers: {}, bodyInit: 'mine', query: '{ __typename }', ...members }),
          'Connection: close\r\n',
        ),
      ),
    ),
  )
  recordFigure({
    area: 'HTTP',
    fault: 'a body like a response',
    asked: 'read as a request',
    seen: firstLines(answers),
  })
  for (const answer of answers) {
    expect(answer).toMatch(/^HTTP\/1\.1 (200|400) /)
    expect(answer).not.toMatch(/x-mine|\r\n\r\nmine/)
    expect(answer).not.toMatch(INSIDE)
  }
})

it.each([100, 1_000, 10_000])(
  'variables %i deep: refused, and nothing is logged as an error',
  async (depth) => {
    const before = gateway.process.lines.length
    const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`
    const answer = await exchange(
      post(
        `{"query":"query ($v: JSON) { taking(any: $v) }","variables":{"v":${nested}}}`,
        'Connection: close\r\n',
      ),
    )
    recordFigure({ area: 'HTTP', fault: `variables ${depth} deep`, asked: '400', seen: firstLines([answer]) })
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).not.toMatch(INSIDE)
    expect(
      gateway.process.lines.slice(before).filter((line) => /"level":(50|60)|\n {4}at /.test(line)),
    ).toEqual([])
  },
)

it('two upgrades to h2c, one behind the other, are both answered', async () => {
  const upgrade =
    'GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n'
  const answer = await exchange(upgrade.repeat(2))
  const statuses = answer.match(/HTTP\/1\.1 \d+/g) ?? []
  recordFigure({ area: 'HTTP', fault: 'two upgrades to h2c', asked: '2 answers', seen: statuses.join(', ') })
  expect(statuses).toHaveLength(2)
})

it('what backends write in their errors reaches nobody, whatever the code', async () => {
  const codes = new Map<string, string>()
  for (const code of GRPC_CODES) {
    const answer = await gateway.query(`{ error(code: ${code}) { code } }`)
    codes.set(`gRPC ${code}`, JSON.stringify(answer.errors))
  }
  for (const status of STATUSES) {
    const answer = await gateway.query(`{ failing(status: ${status}) }`)
    codes.set(`REST ${status}`, JSON.stringify(answer.errors))
  }
  const told = [...codes].filter(([, text]) => /users_v7|db-3|inventory|secretive|127\.0\.0\.1/.test(text))
  recordFigure({
    area: 'HTTP',
    fault: 'errors of backends',
    asked: 'no text or name of theirs',
    seen: `${told.length} of ${codes.size} codes tell something`,
  })
  expect(told).toEqual([])
  for (const text of codes.values()) expect(text).toMatch(/"code":"[A-Z_]+"/)
})
