import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import {
  createDisposables,
  createFakeClock,
  startRestBackend,
  startTcpServer,
  waitUntil,
  type RestAnswer,
  type RestHandler,
} from '@vinyasa/test-kit'
import { afterEach, describe, expect, it } from 'vitest'
import { bearer, createRestConnector, type RestConnectorOptions } from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

async function serve(answer: RestAnswer | RestHandler, options: Partial<RestConnectorOptions> = {}) {
  const backend = cleanup.use(
    await startRestBackend((request) => (typeof answer === 'function' ? answer(request) : answer)),
  )
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: backend.url,
      noRetry: true,
      endpoints: [
        { name: 'get', path: '/get' },
        { name: 'post', path: '/post', method: 'POST' },
      ],
      ...options,
    }),
  )
  return { backend, connector }
}

const JSON_TYPE = { 'content-type': 'application/json' }

describe('time', () => {
  const silent: [string, RestHandler][] = [
    ['headers that never come', () => ({ delayMs: 600_000 })],
    [
      'a body that never ends',
      () => ({
        write: (response) => {
          response.writeHead(200, JSON_TYPE)
          response.write('[')
        },
      }),
    ],
  ]
  it.each(silent)('%s: TIMEOUT exactly at the timeout, and the upstream is let go', async (_, handler) => {
    const clock = createFakeClock()
    const { connector, backend } = await serve(handler, { clock, timeoutMs: 5000 })
    let outcome: unknown
    void connector.execute('get').catch((error: unknown) => (outcome = error))
    await waitUntil(() => backend.requests.length === 1)
    await clock.advance(4999)
    expect(outcome).toBeUndefined()
    await clock.advance(1)
    expect(outcome).toMatchObject({ extensions: { code: 'TIMEOUT', attempts: 1 } })
    await waitUntil(() => backend.requests[0]?.cancelledAt)
    expect(clock.pending()).toBe(0)
  })

  it('a peer that accepts connections and says nothing: TIMEOUT', { retry: 2 }, async () => {
    const peer = cleanup.use(await startTcpServer())
    const { connector } = await serve({}, { baseUrl: `http://127.0.0.1:${peer.port}`, timeoutMs: 40 })
    const started = performance.now()
    await expect(connector.execute('get')).rejects.toMatchObject({ extensions: { code: 'TIMEOUT' } })
    // Asked: timeout + 50 ms. A loaded machine is given more.
    expect(performance.now() - started).toBeLessThan(500)
  })

  it('totalTimeoutMs bounds all attempts together', async () => {
    const clock = createFakeClock()
    const { connector, backend } = await serve(() => ({ delayMs: 600_000 }), {
      clock,
      noRetry: false,
      random: () => 0,
      timeoutMs: 1000,
      totalTimeoutMs: 2500,
    })
    let outcome: unknown
    void connector.execute('get').catch((error: unknown) => (outcome = error))
    for (let attempt = 1; attempt <= 2; attempt++) {
      await waitUntil(() => backend.requests.length === attempt)
      await clock.advance(1000)
    }
    await waitUntil(() => backend.requests.length === 3)
    await clock.advance(499)
    expect(outcome).toBeUndefined()
    await clock.advance(1)
    expect(outcome).toMatchObject({
      message: expect.stringContaining('within 2500 ms'),
      extensions: { attempts: 3 },
    })
  })

  it('an endpoint may take as long as its own timeoutMs says, where nobody sets a total', async () => {
    const clock = createFakeClock()
    const { connector, backend } = await serve(() => ({ delayMs: 600_000 }), {
      clock,
      endpoints: [{ name: 'report', path: '/report', timeoutMs: 120_000 }],
    })
    let outcome: unknown
    void connector.execute('report').catch((error: unknown) => (outcome = error))
    await waitUntil(() => backend.requests.length === 1)
    await clock.advance(119_999)
    expect(outcome).toBeUndefined()
    await clock.advance(1)
    expect(outcome).toMatchObject({ message: expect.stringContaining('within 120000 ms') })
  })
})

describe('size', () => {
  it('50 MB out of 50 kB of gzip: REST_RESPONSE_TOO_LARGE, and memory stays small', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 0x20))
    expect(bomb.length).toBeLessThan(60_000)
    const { connector } = await serve({ body: bomb, headers: { ...JSON_TYPE, 'content-encoding': 'gzip' } })
    const before = process.memoryUsage().arrayBuffers
    await expect(connector.execute('get')).rejects.toMatchObject({
      message: 'The upstream sent a response that exceeds the limit of 10000000 bytes.',
      extensions: { code: 'REST_RESPONSE_TOO_LARGE' },
    })
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(25_000_000)
  })

  it('a body that goes on for ever is cut off at the cap', async () => {
    async function* endless() {
      for (;;) {
        yield Buffer.alloc(100_000, 0x20)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const { connector, backend } = await serve(() => ({ body: endless(), headers: JSON_TYPE }), {
      maxResponseBytes: 1_000_000,
    })
    await expect(connector.execute('get')).rejects.toMatchObject({
      extensions: { code: 'REST_RESPONSE_TOO_LARGE' },
    })
    await waitUntil(() => backend.requests[0]?.cancelledAt)
  })

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('%s is decoded', async (encoding, compress) => {
    const body = compress(JSON.stringify({ a: 'é' }))
    const { connector, backend } = await serve({
      body,
      headers: { ...JSON_TYPE, 'content-encoding': encoding },
    })
    expect(await connector.execute('get')).toEqual({ a: 'é' })
    expect(backend.requests[0]?.headers['accept-encoding']).toContain(encoding)
  })
})

describe('answers that cannot be used', () => {
  it.each<[string, RestAnswer, string]>([
    ['bad JSON', { body: '{"a":', headers: JSON_TYPE }, 'the body is not valid JSON'],
    ['HTML under a JSON type', { body: '<html>', headers: JSON_TYPE }, 'the body is not valid JSON'],
    [
      'an image',
      { body: 'x', headers: { 'content-type': 'image/png' } },
      'content type "image/png" is not JSON or text',
    ],
    [
      'damaged gzip',
      { body: 'junk', headers: { ...JSON_TYPE, 'content-encoding': 'gzip' } },
      'the gzip body is invalid',
    ],
    [
      'an unknown encoding',
      { body: 'x', headers: { ...JSON_TYPE, 'content-encoding': 'zstd9' } },
      'content encoding "zstd9" is not supported',
    ],
  ])('%s: REST_BAD_RESPONSE', async (_, answer, reason) => {
    const { connector } = await serve(answer)
    await expect(connector.execute('get')).rejects.toMatchObject({
      message: 'The upstream sent an invalid response.',
      cause: { message: reason },
      extensions: { code: 'REST_BAD_RESPONSE', connector: 'c', endpoint: 'get', attempts: 1 },
    })
    const exposing = await serve(answer, { exposeErrors: true })
    await expect(exposing.connector.execute('get')).rejects.toMatchObject({
      message: `REST endpoint "get" sent an invalid response: ${reason}.`,
    })
  })

  it('a body cut short: SERVICE_UNAVAILABLE, never half a value', async () => {
    const { connector } = await serve({
      write: (response) => {
        response.writeHead(200, { ...JSON_TYPE, 'content-length': 100 })
        response.write('[1,2]')
        setImmediate(() => response.destroy())
      },
    })
    await expect(connector.execute('get')).rejects.toMatchObject({
      extensions: { code: 'SERVICE_UNAVAILABLE' },
    })
  })

  it.each<[string, RestAnswer, unknown]>([
    ['application/json', { body: '[1]', headers: JSON_TYPE }, [1]],
    [
      'application/vnd.api+json; charset=utf-8',
      { body: '[1]', headers: { 'content-type': 'application/vnd.api+json; charset=utf-8' } },
      [1],
    ],
    ['text/plain', { body: 'hé', headers: { 'content-type': 'text/plain; charset=utf-8' } }, 'hé'],
    ['no content type', { body: '[1]' }, [1]],
    ['204', { status: 204 }, null],
    ['an empty body', { body: '', headers: JSON_TYPE }, null],
    ['a byte order mark', { body: '\uFEFF[1]', headers: JSON_TYPE }, [1]],
    [
      'integers beyond 2^53',
      { body: '{"a":[12345678901234567890],"s":"x 12345678901234567890"}', headers: JSON_TYPE },
      { a: ['12345678901234567890'], s: 'x 12345678901234567890' },
    ],
  ])('%s is read', async (_, answer, expected) => {
    const { connector } = await serve(answer)
    expect(await connector.execute('get')).toEqual(expected)
  })

  it.each([
    'SSH-2.0-OpenSSH_9.6\r\n',
    'HTTP/1.1 99999 OK\r\n\r\n',
    'HTTP/1.1 200 OK\r\nno header\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nok',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: nonsense\r\nContent-Length: 2\r\n\r\nok',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  ])('%j is no HTTP: REST_BAD_RESPONSE, and not a fault of ours', async (answer) => {
    const peer = cleanup.use(await startTcpServer({ answer }))
    const { connector } = await serve({}, { baseUrl: `http://127.0.0.1:${peer.port}`, exposeErrors: true })
    await expect(connector.execute('get')).rejects.toMatchObject({
      message: expect.stringContaining('the response is not HTTP/1.1'),
      extensions: { code: 'REST_BAD_RESPONSE' },
    })
  })

  it.each([
    ['204 No Content', 'Content-Length: 11'],
    ['204 No Content', 'Content-Type: application/json\r\nTransfer-Encoding: chunked'],
    ['204 No Content', ''],
  ])(
    '%s that announces a body (%s) is a success without one, on a read and on a change',
    async (status, head) => {
      const peer = cleanup.use(await startTcpServer({ answer: `HTTP/1.1 ${status}\r\n${head}\r\n\r\n` }))
      const { connector } = await serve({}, { baseUrl: `http://127.0.0.1:${peer.port}` })
      expect([await connector.execute('post'), await connector.execute('get')]).toEqual([null, null])
    },
  )
})

describe('statuses', () => {
  it.each([
    [400, 'BAD_USER_INPUT'],
    [401, 'UNAUTHENTICATED'],
    [403, 'FORBIDDEN'],
    [404, 'NOT_FOUND'],
    [409, 'CONFLICT'],
    [418, 'INTERNAL_SERVER_ERROR'],
    [422, 'BAD_USER_INPUT'],
    [429, 'RATE_LIMITED'],
    [500, 'INTERNAL_SERVER_ERROR'],
    [501, 'NOT_IMPLEMENTED'],
    [502, 'SERVICE_UNAVAILABLE'],
    [503, 'SERVICE_UNAVAILABLE'],
    [504, 'TIMEOUT'],
  ])('%i: %s, and nothing of the upstream’s words, address or headers', async (status, code) => {
    const { connector, backend } = await serve({ status, json: { canary: 'c4n4ry' } })
    const error = (await connector.execute('get').catch((reason: unknown) => reason)) as Error
    expect(error).toMatchObject({
      message: `The upstream responded with status ${status}.`,
      extensions: { code, connector: 'c', endpoint: 'get', status, attempts: 1 },
    })
    // Read by logs, and not sent to clients.
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      message: `The upstream responded with status ${status}.`,
      extensions: { code, status },
    })
    expect(JSON.stringify(error)).not.toContain(String(backend.port))
  })

  it('exposeErrors adds the request and the answer, without credentials', async () => {
    const { connector, backend } = await serve(
      { status: 500, json: { why: 'x' } },
      {
        exposeErrors: true,
        interceptors: [bearer('c4n4ry')],
      },
    )
    const error = (await connector.execute('get').catch((reason: unknown) => reason)) as Error
    expect(error).toMatchObject({
      message: 'REST endpoint "get" responded with status 500.',
      extensions: { upstream: { method: 'GET', url: `${backend.url}/get`, body: '{"why":"x"}' } },
    })
    expect(JSON.parse(JSON.stringify(error)).extensions).toMatchObject({ connector: 'c', endpoint: 'get' })
    expect(JSON.stringify(error)).not.toContain('c4n4ry')
  })
})

describe('redirects', () => {
  const to = (location: string, status = 302): RestAnswer => ({ status, headers: { location } })

  it('are followed on the same origin, relative ones too', async () => {
    const { connector, backend } = await serve(({ rawUrl }) => {
      if (rawUrl === '/get') return to('/b', 301)
      return rawUrl === '/b' ? to('c?d=1', 308) : { json: rawUrl }
    })
    expect(await connector.execute('get')).toBe('/c?d=1')
    expect(backend.requests).toHaveLength(3)
  })

  it('turn a POST into a GET without a body, except for 307 and 308', async () => {
    for (const [status, expected] of [
      [302, 'GET '],
      [303, 'GET '],
      [307, 'POST {"a":1}'],
    ] as const) {
      const { connector } = await serve(({ rawUrl, method, body }) =>
        rawUrl === '/post' ? to('/b', status) : { json: `${method} ${String(body)}` },
      )
      expect(await connector.execute('post', { a: 1 })).toBe(expected)
    }
  })

  it('across origins are refused: nothing reaches the other origin', async () => {
    const other = cleanup.use(await startRestBackend())
    const { connector } = await serve(() => to(`${other.url}/steal`, 307), {
      interceptors: [bearer('secret')],
    })
    for (const name of ['get', 'post'])
      await expect(connector.execute(name)).rejects.toMatchObject({
        message: `The upstream sent a redirect that was refused: its target has a different origin.`,
        extensions: { code: 'REST_REDIRECT_REFUSED' },
      })
    expect(other.requests).toHaveLength(0)
  })

  it('end after five', async () => {
    const { connector, backend } = await serve(() => to('/get'))
    await expect(connector.execute('get')).rejects.toMatchObject({
      extensions: { code: 'REST_REDIRECT_REFUSED' },
    })
    expect(backend.requests).toHaveLength(6)
  })

  it.each(['http://[bad', 'javascript:alert(1)', 'file:///etc/passwd', '//evil.example/x'])(
    'to %s are refused',
    async (location) => {
      const { connector } = await serve(() => to(location))
      await expect(connector.execute('get')).rejects.toMatchObject({
        extensions: { code: 'REST_REDIRECT_REFUSED' },
      })
    },
  )
})

describe('an upstream that goes away', () => {
  it(
    'is SERVICE_UNAVAILABLE while it is gone, and answers at once when it is back',
    { retry: 2 },
    async () => {
      const { connector, backend } = await serve({ json: 1 })
      expect(await connector.execute('get')).toBe(1)
      await backend.stop()
      await expect(connector.execute('get')).rejects.toMatchObject({
        extensions: { code: 'SERVICE_UNAVAILABLE' },
      })
      await backend.restart()
      const started = performance.now()
      expect(await connector.execute('get')).toBe(1)
      expect(performance.now() - started).toBeLessThan(1000)
    },
  )

  it('calls after close fail and nothing is left open', async () => {
    const { connector, backend } = await serve({ delayMs: 600_000 })
    const call = connector.execute('get').catch((error: unknown) => error)
    await waitUntil(() => backend.requests.length === 1)
    await connector.close()
    expect(await call).toMatchObject({ extensions: { code: 'SERVICE_UNAVAILABLE' } })
    await waitUntil(() => backend.requests[0]?.cancelledAt)
    await expect(connector.execute('get')).rejects.toMatchObject({
      extensions: { code: 'SERVICE_UNAVAILABLE' },
    })
  })
})

describe('the circuit breaker', () => {
  it(
    'opens at 50 % failures of at least 20, answers without a request while open, and closes again',
    { retry: 2 },
    async () => {
      let status = 200
      const { connector, backend } = await serve(() => ({ status, json: 1 }), {
        breaker: { halfOpenAfterMs: 100 },
      })
      const call = (): Promise<unknown> => connector.execute('get').catch((error: unknown) => error)
      for (let n = 0; n < 12; n++) await call()
      status = 404
      for (let n = 0; n < 12; n++) await call()
      // Refusals of single requests say nothing about the upstream's health.
      expect(connector.stats().breaker).toBe('closed')
      status = 500
      for (let n = 0; n < 60 && connector.stats().breaker === 'closed'; n++) await call()
      expect(connector.stats().breaker).toBe('open')
      const sent = backend.requests.length
      const started = performance.now()
      expect(await call()).toMatchObject({
        message:
          'The upstream was not called, because the circuit breaker is open after too many failed calls.',
        extensions: { code: 'SERVICE_UNAVAILABLE' },
      })
      expect(performance.now() - started).toBeLessThan(50)
      expect(backend.requests).toHaveLength(sent)
      status = 200
      await waitUntil(async () => (await call()) === 1)
      expect(connector.stats().breaker).toBe('closed')
    },
  )

  it('is off by default', async () => {
    const { connector } = await serve({ json: 1 })
    expect(connector.stats().breaker).toBe('off')
  })
})

describe('a file that cannot be read to its end', () => {
  /** As a socket fails whose client has left. */
  const torn = {
    isOnce: true,
    async *stream() {
      yield Buffer.from('begun')
      throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' })
    },
  }

  it(
    'is no fault of the upstream: the breaker stays closed, and the error says what failed',
    { retry: 2 },
    async () => {
      const { connector } = await serve(
        { json: 1 },
        {
          breaker: true,
          endpoints: [
            {
              name: 'put',
              method: 'PUT',
              path: '/x',
              args: { input: 'Upload' },
              body: { contentType: 'image/png' },
            },
          ],
        },
      )
      for (let n = 0; n < 40; n++)
        expect(
          await connector.execute('put', { input: torn }).catch((error: unknown) => error),
        ).toMatchObject({
          message: 'An uploaded file could not be read completely. Send the request again.',
          extensions: { code: 'BAD_USER_INPUT' },
        })
      expect(connector.stats().breaker).toBe('closed')
    },
  )
})
