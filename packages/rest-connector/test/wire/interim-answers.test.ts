import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createDisposables } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { afterEach, expect, it } from 'vitest'
import { createRestConnector } from '../../src/index.ts'
import { InterimAnswers } from '../../src/http/client/patient-client.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

/** Says one of these to each request, cut where it says. */
async function startScript(answers: readonly { readonly bytes: Buffer; readonly cuts: readonly number[] }[]) {
  let at = 0
  let connections = 0
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    connections++
    sockets.add(socket.on('error', () => {}))
    let text = ''
    socket.on('data', async (chunk) => {
      text += chunk.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
      if (end < 0 || text.length < end + 4 + length) return
      text = ''
      const { bytes = Buffer.alloc(0), cuts = [] } = answers[at++] ?? {}
      let from = 0
      for (const to of [...cuts.filter((cut) => cut < bytes.length), bytes.length].toSorted(
        (a, b) => a - b,
      )) {
        if (to > from) await new Promise((resolve) => socket.write(bytes.subarray(from, to), resolve))
        await new Promise(setImmediate)
        from = to
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const headers = fc.constantFrom(
  '',
  'Link: </a.css>; rel=preload\r\n',
  'X: HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n',
  'Date: now\r\nTransfer-Encoding: chunked\r\n',
)
const interim = fc
  .tuple(
    fc.constantFrom('100 Continue', '100', '100 ', '102 Processing', '103 Early Hints', '199 Own'),
    headers,
  )
  .map(([status, fields]) => `HTTP/1.1 ${status}\r\n${fields}\r\n`)
/** Text that is no interim answer, as it stands in a body. */
const body = fc
  .array(fc.constantFrom('HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 1', '00', 'x', '\r\n\r\n'), {
    maxLength: 4,
  })
  .map((pieces) => pieces.join(''))
const final = fc.tuple(body, fc.constantFrom('length', 'chunked')).map(([text, framing]) => ({
  text,
  head: `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n`,
  framed:
    framing === 'length'
      ? `Content-Length: ${text.length}\r\n\r\n${text}`
      : `Transfer-Encoding: chunked\r\n\r\n${text && `${text.length.toString(16)}\r\n${text}\r\n`}0\r\n\r\n`,
}))
const answer = fc.record({
  interims: fc.array(interim, { maxLength: 4 }),
  final,
  cuts: fc.array(fc.nat(200), { maxLength: 6 }),
  method: fc.constantFrom('get', 'post'),
})

it('any interim answers, cut anywhere, with or without headers, are passed over, on one connection', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 4 }), async (answers) => {
      await using server = await startScript(
        answers.map(({ interims, final: { head, framed }, cuts }) => ({
          bytes: Buffer.from(interims.join('') + head + framed, 'latin1'),
          cuts,
        })),
      )
      const connector = createRestConnector('c', {
        baseUrl: server.url,
        noRetry: true,
        maxConnections: 1,
        cacheSize: 0,
        timeoutMs: 5000,
        endpoints: [
          { name: 'get', path: '/x' },
          { name: 'post', path: '/x', method: 'POST', args: { a: 'string' } },
        ],
      })
      try {
        for (const {
          method,
          final: { text },
        } of answers)
          expect(
            await connector.execute(method, method === 'post' ? { a: 'HTTP/1.1 100 Continue' } : {}),
          ).toBe(text === '' ? null : text)
        expect(server.connections()).toBe(1)
      } finally {
        await connector.close()
      }
    }),
    { numRuns: 300, interruptAfterTimeLimit: 30_000 },
  )
}, 240_000)

it('bytes of answers themselves are never changed, however they are cut', () => {
  fc.assert(
    fc.property(
      fc.array(interim, { maxLength: 4 }),
      final,
      fc.array(fc.nat(300), { maxLength: 8 }),
      (interims, { head, framed }, cuts) => {
        const bytes = Buffer.from(interims.join('') + head + framed, 'latin1')
        const seen = Buffer.from(bytes)
        const passing = new InterimAnswers()
        passing.expect()
        const edges = [0, ...cuts.filter((cut) => cut < seen.length).toSorted((a, b) => a - b), seen.length]
        edges.forEach((edge, index) => passing.pass(seen.subarray(edge, edges[index + 1])))
        const expected =
          interims.map((text) => text.replace(/^(HTTP\/1\.1 10)0/, '$12')).join('') + head + framed
        expect(seen.toString('latin1')).toBe(expected)
      },
    ),
    { numRuns: 2000 },
  )
})

it('an upstream that only ever says "continue" is one that is too slow', async () => {
  const server = cleanup.use(
    await startScript([{ bytes: Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(50)), cuts: [] }]),
  )
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: server.url,
      noRetry: true,
      timeoutMs: 100,
      endpoints: [{ name: 'get', path: '/x' }],
    }),
  )
  await expect(connector.execute('get')).rejects.toMatchObject({ extensions: { code: 'TIMEOUT' } })
})
