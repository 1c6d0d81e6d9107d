import { createServer as createTcpServer, type AddressInfo, Socket } from 'node:net'
import { constants } from 'node:http2'
import { deflateSync, gzipSync } from 'node:zlib'
import { waitUntil } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'
import type { ChannelOptions } from '@vinyasa/grpc-transport'
import { createGrpcJsTransport } from '../src/runtime/grpc-js-transport.ts'
import { createHttp2Transport } from '@vinyasa/grpc-transport'
import type { Transport, TransportCall } from '@vinyasa/grpc-transport'
import { disposables } from './harness.ts'
import { startBytesServer } from './bytes-server.ts'
import { answer, frame, startWireServer, type WireHandler, type WireServer } from './wire-server.ts'

// What goes over the wire, on both transports, against a server by hand.

const REQUEST = Buffer.from('ask')
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()
const callOf = (call: Partial<TransportCall> = {}): TransportCall => ({
  path: '/w.S/Get',
  metadata: [],
  timeoutMs: 10_000,
  signal: undefined,
  ...call,
})
const never: WireHandler = () => {}
const ok: WireHandler = (call) => answer(call, frame('reply'))

async function all(messages: AsyncIterable<Uint8Array>): Promise<string[]> {
  const seen: string[] = []
  try {
    for await (const message of messages) seen.push(text(message))
  } catch (error) {
    seen.push((error as { status: string }).status)
  }
  return seen
}

describe.each([
  ['http2', createHttp2Transport],
  ['grpc-js', createGrpcJsTransport],
] as const)('on the wire, %s', (name, create) => {
  const isHttp2 = name === 'http2'
  function transportTo(address: string, channel: ChannelOptions = {}): Transport {
    return disposables().use(create({ address, tls: undefined, channel }))
  }
  async function serve(
    handler: WireHandler,
    options: Parameters<typeof startWireServer>[1] = {},
  ): Promise<WireServer> {
    return disposables().use(await startWireServer(handler, options))
  }
  async function ask(handler: WireHandler, channel: ChannelOptions = {}): Promise<string> {
    const server = await serve(handler)
    return text(await transportTo(server.address, channel).unary(callOf(), REQUEST))
  }

  it('an idle connection does not keep the process, and close() leaves nothing', async () => {
    const server = await serve(ok)
    const port = Number(server.address.split(':').at(-1))
    // Only handles that keep the process, and only of this server: other tests share the process.
    const handles = (): unknown[] => (process as any)._getActiveHandles()
    const sockets = (): number =>
      handles().filter(
        (handle) => handle instanceof Socket && [handle.localPort, handle.remotePort].includes(port),
      ).length
    const transport = create({ address: server.address, tls: undefined, channel: {} })
    await transport.unary(callOf(), REQUEST)
    // The server's end of the connection is the one that is left.
    await waitUntil(() => sockets() === 1)
    transport.close()
    await waitUntil(() => sockets() === 0 && server.sessions.every((session) => session.destroyed))
    // grpc-js would connect again.
    if (!isHttp2) return
    await expect(transport.unary(callOf(), REQUEST)).rejects.toMatchObject({ status: 'UNAVAILABLE' })
  })

  it('a request has the headers that gRPC asks for', async () => {
    const server = await serve(ok)
    const metadata = [
      ['x-one', '1'],
      ['x-many', 'a'],
      ['x-many', 'b'],
      ['x-key-bin', Uint8Array.of(0, 255)],
    ] as const
    await transportTo(server.address).unary(callOf({ metadata, timeoutMs: 99_000.5 }), REQUEST)
    const { headers, body } = server.calls[0] ?? {}
    expect(headers).toMatchObject({
      ':method': 'POST',
      ':path': '/w.S/Get',
      ':scheme': 'http',
      ':authority': server.address,
      te: 'trailers',
      'content-type': 'application/grpc',
      'user-agent': expect.stringMatching(/^grpc-node/),
      'grpc-accept-encoding': 'identity,deflate,gzip',
      'grpc-timeout': expect.stringMatching(/^9\d{4}m$/),
      'x-one': '1',
      'x-many': 'a, b',
      'x-key-bin': expect.stringMatching(/^AP8=?$/),
    })
    expect(body).toEqual(frame(REQUEST))
    await transportTo(server.address).unary(callOf({ timeoutMs: undefined }), REQUEST)
    expect(server.calls[1]?.headers).not.toHaveProperty('grpc-timeout')
  })

  it('a status without a body: code, decoded message, details', async () => {
    const details = Buffer.from([8, 5])
    await expect(
      ask(({ stream }) =>
        stream.respond(
          {
            ':status': 200,
            'content-type': 'application/grpc',
            'grpc-status': 5,
            'grpc-message': 'no %E2%82%AC 100%25',
            'grpc-status-details-bin': details.toString('base64').replaceAll('=', ''),
          },
          { endStream: true },
        ),
      ),
    ).rejects.toMatchObject({ status: 'NOT_FOUND', message: 'no € 100%', details })
  })

  it.each([
    [400, 'INTERNAL'],
    [401, 'UNAUTHENTICATED'],
    [403, 'PERMISSION_DENIED'],
    [404, 'UNIMPLEMENTED'],
    [418, 'UNKNOWN'],
    [429, 'UNAVAILABLE'],
    [502, 'UNAVAILABLE'],
    [503, 'UNAVAILABLE'],
    [504, 'UNAVAILABLE'],
  ])('HTTP %i without grpc-status is %s', async (code, status) => {
    for (const body of [undefined, '<html>a page of a proxy</html>']) {
      const page: WireHandler = ({ stream }) => {
        stream.respond({ ':status': code, 'content-type': 'text/html' }, { endStream: body === undefined })
        if (body !== undefined) stream.end(body)
      }
      await expect(ask(page)).rejects.toMatchObject({ status })
    }
  })

  it.each([
    [constants.NGHTTP2_NO_ERROR, 'INTERNAL'],
    [constants.NGHTTP2_PROTOCOL_ERROR, 'INTERNAL'],
    [constants.NGHTTP2_INTERNAL_ERROR, 'INTERNAL'],
    [constants.NGHTTP2_CANCEL, 'CANCELLED'],
    [constants.NGHTTP2_ENHANCE_YOUR_CALM, 'RESOURCE_EXHAUSTED'],
    [constants.NGHTTP2_INADEQUATE_SECURITY, 'PERMISSION_DENIED'],
  ])('RST_STREAM %i is %s', async (code, status) => {
    await expect(ask(({ stream }) => stream.close(code))).rejects.toMatchObject({ status })
  })

  it.each([
    ['no trailers', (call) => call.stream.respond({ ':status': 200 }, { endStream: true }), 'UNKNOWN'],
    [
      'a cut message',
      (call) => answer(call, frame('reply').subarray(0, 7)),
      isHttp2 ? 'INTERNAL' : 'UNIMPLEMENTED',
    ],
    ['no message', (call) => answer(call, Buffer.alloc(0)), 'UNIMPLEMENTED'],
    ['an unknown status', (call) => answer(call, Buffer.alloc(0), { 'grpc-status': '99' }), 'UNKNOWN'],
    ['a failure after the reply', (call) => answer(call, frame('a'), { 'grpc-status': '10' }), 'ABORTED'],
    [
      'broken gzip',
      (call) => answer(call, frame('a', 1), undefined, { 'grpc-encoding': 'gzip' }),
      'INTERNAL',
    ],
  ] as const satisfies readonly (readonly [string, WireHandler, string])[])(
    '%s is an error',
    async (_what, handler, status) => {
      await expect(ask(handler)).rejects.toMatchObject({ status })
    },
  )

  // grpc-js hangs, or says UNKNOWN.
  it.runIf(isHttp2).each([
    ['two messages', (call) => answer(call, Buffer.concat([frame('a'), frame('b')])), 'UNIMPLEMENTED'],
    ['no gRPC', (call) => answer(call, frame('a', 7)), 'INTERNAL'],
    ['compressed, it does not say how', (call) => answer(call, frame('a', 1)), 'INTERNAL'],
    [
      'an unknown compression',
      (call) => answer(call, frame('a', 1), undefined, { 'grpc-encoding': 'br' }),
      'UNIMPLEMENTED',
    ],
    [
      'a page with status 200',
      (call) => answer(call, frame('a'), undefined, { 'content-type': 'text/html' }),
      'UNKNOWN',
    ],
  ] as const satisfies readonly (readonly [string, WireHandler, string])[])(
    '%s is an error',
    async (_what, handler, status) => {
      await expect(ask(handler)).rejects.toMatchObject({ status })
    },
  )

  it('reads replies in whatever pieces they come', async () => {
    const parts: WireHandler = ({ stream }) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
      const bytes = [...frame('reply')]
      const next = (): void => {
        const byte = bytes.shift()
        if (byte === undefined) stream.end()
        else stream.write(Buffer.of(byte), () => setImmediate(next))
      }
      next()
    }
    expect(await ask(parts)).toBe('reply')
  })

  it('reads gzip and deflate, within the size limit', async () => {
    const zipped =
      (encoding: string, bytes: Buffer): WireHandler =>
      (call) =>
        answer(call, frame(bytes, 1), undefined, { 'grpc-encoding': encoding })
    expect(await ask(zipped('gzip', gzipSync('reply')))).toBe('reply')
    expect(await ask(zipped('deflate', deflateSync('reply')))).toBe('reply')
    const bomb = zipped('gzip', gzipSync(Buffer.alloc(1_000_000)))
    await expect(ask(bomb, { maxReceiveBytes: 10_000 })).rejects.toMatchObject({
      status: 'RESOURCE_EXHAUSTED',
    })
  })

  it.each([undefined, 'gzip'] as const)(
    'a request of a stream that a server finds too large is refused by that server, compressed by %s',
    async (compression) => {
      const server = disposables().use(await startBytesServer('/s.S/Get', () => REQUEST))
      const transport = transportTo(server.address, { compression })
      const large = Buffer.alloc(5_000_000)
      async function* requests(): AsyncGenerator<Uint8Array> {
        yield large
      }
      for (const sent of [[large], requests()]) {
        const call = { ...callOf(), path: '/s.S/Get' }
        await expect(transport.stream(call, sent).next()).rejects.toMatchObject({
          status: 'RESOURCE_EXHAUSTED',
          ownLimit: undefined,
        })
      }
    },
  )

  it('compresses requests on demand, and refuses too large ones', async () => {
    const server = await serve(ok)
    await transportTo(server.address, { compression: 'gzip' }).unary(callOf(), REQUEST)
    const { headers, body } = server.calls[0] ?? {}
    expect([headers?.['grpc-encoding'], body?.[0]]).toEqual(['gzip', 1])
    const small = transportTo(server.address, { maxSendBytes: 2 })
    await expect(small.unary(callOf(), REQUEST)).rejects.toMatchObject({ status: 'RESOURCE_EXHAUSTED' })
    expect(await transportTo(server.address, { maxSendBytes: 3 }).unary(callOf(), REQUEST)).toHaveLength(5)
  })

  it('carries large messages both ways', async () => {
    const large = Buffer.alloc(3_000_000, 'abcdefg')
    const server = await serve((call) => answer(call, call.body))
    const transport = transportTo(server.address)
    // More in all than a connection's window.
    for (let call = 0; call < 2; call++) {
      expect(Buffer.compare(await transport.unary(callOf(), large), large)).toBe(0)
    }
  })

  it('a deadline and an abort cancel the call at the server', async () => {
    const server = await serve((call, index) => index === 0 && ok(call, index))
    const transport = transportTo(server.address)
    // A deadline may be over before there is a connection: then the server has heard of nothing.
    await transport.unary(callOf(), REQUEST)
    await expect(transport.unary(callOf({ timeoutMs: 100 }), REQUEST)).rejects.toMatchObject({
      status: 'DEADLINE_EXCEEDED',
    })
    const abort = new AbortController()
    const call = transport.unary(callOf({ signal: abort.signal }), REQUEST)
    await waitUntil(() => server.calls.length === 3)
    abort.abort()
    await expect(call).rejects.toMatchObject({ status: 'CANCELLED' })
    const [, ...cancelled] = server.calls
    await waitUntil(() => cancelled.every(({ stream }) => stream.rstCode === constants.NGHTTP2_CANCEL))
    await expect(transport.unary(callOf({ signal: abort.signal }), REQUEST)).rejects.toMatchObject({
      status: 'CANCELLED',
    })
    expect(server.calls).toHaveLength(3)
  })

  it('a lost connection is UNAVAILABLE, and the next call finds a new one', async () => {
    const server = await serve((call, index) =>
      index === 0 ? call.stream.session?.destroy() : ok(call, index),
    )
    const transport = transportTo(server.address)
    await expect(transport.unary(callOf(), REQUEST)).rejects.toMatchObject({ status: 'UNAVAILABLE' })
    await waitUntil(() => transport.unary(callOf(), REQUEST))
    expect(server.sessions).toHaveLength(2)
  })

  it('a polite GOAWAY: calls that run end well, new ones go over a new connection', async () => {
    const server = await serve((call, index) => {
      if (index > 0) return ok(call, index)
      call.stream.session?.goaway(constants.NGHTTP2_NO_ERROR, call.stream.id)
      setTimeout(() => ok(call, index), 100)
    })
    const transport = transportTo(server.address)
    const first = transport.unary(callOf(), REQUEST)
    await waitUntil(() => server.calls.length === 1)
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(text(await transport.unary(callOf(), REQUEST))).toBe('reply')
    expect(text(await first)).toBe('reply')
    expect(server.sessions).toHaveLength(2)
  })

  it.runIf(isHttp2).each([
    ['refused', (call) => call.stream.close(constants.NGHTTP2_REFUSED_STREAM)],
    ['left out by a polite GOAWAY', (call) => call.stream.session?.goaway(constants.NGHTTP2_NO_ERROR, 1)],
    [
      'left out by a GOAWAY for an error',
      (call) => call.stream.session?.goaway(constants.NGHTTP2_INTERNAL_ERROR, 1),
    ],
  ] as const satisfies readonly (readonly [string, WireHandler])[])(
    'a call that the server %s is sent again',
    async (_how, refuse) => {
      const server = await serve((call, index) => (index === 1 ? refuse(call) : ok(call, index)))
      const transport = transportTo(server.address)
      await transport.unary(callOf(), REQUEST)
      expect(text(await transport.unary(callOf(), REQUEST))).toBe('reply')
      expect(server.calls).toHaveLength(3)
    },
  )

  it.runIf(isHttp2)(
    'a call that is refused again and again is sent until it is taken, ever more seldom',
    async () => {
      const times: number[] = []
      const server = await serve((call, index) => {
        times.push(performance.now())
        if (index < 8) call.stream.close(constants.NGHTTP2_REFUSED_STREAM)
        else ok(call, index)
      })
      expect(text(await transportTo(server.address).unary(callOf(), REQUEST))).toBe('reply')
      expect(server.calls).toHaveLength(9)
      // None, then 20, 40, 80, … 500 ms less jitter.
      const pauses = times.slice(1).map((at, index) => at - times[index]!)
      for (const [index, pause] of pauses.entries())
        expect(pause).toBeGreaterThanOrEqual(index === 0 ? 0 : Math.min(500, 20 * 2 ** (index - 1)) / 2 - 2)
    },
  )

  it.runIf(isHttp2)(
    'a call that is never taken ends at its deadline, having been sent a few times',
    async () => {
      const server = await serve((call) => call.stream.close(constants.NGHTTP2_REFUSED_STREAM))
      await expect(
        transportTo(server.address).unary(callOf({ timeoutMs: 400 }), REQUEST),
      ).rejects.toMatchObject({ status: 'UNAVAILABLE', message: expect.stringContaining('every attempt') })
      const sent = server.calls.length
      expect(sent).toBeGreaterThan(2)
      expect(sent).toBeLessThan(9)
      await new Promise((resolve) => setTimeout(resolve, 600))
      expect(server.calls).toHaveLength(sent)
    },
  )

  it.runIf(isHttp2)('a server that allows more calls later has those that wait begin', async () => {
    const started: number[] = []
    const server = await serve(
      (call, index) => {
        started.push(index)
        if (index === 0) setTimeout(() => call.stream.session?.settings({ maxConcurrentStreams: 3 }), 50)
        else if (index === 2) for (const one of server.calls) answer(one, frame('reply'))
      },
      { settings: { maxConcurrentStreams: 1 } },
    )
    const transport = transportTo(server.address, { maxConnections: 1 })
    const replies = Array.from({ length: 3 }, () => transport.unary(callOf({ timeoutMs: 5_000 }), REQUEST))
    expect((await Promise.all(replies)).map(text)).toEqual(['reply', 'reply', 'reply'])
  })

  it("keeps to the server's own limit of calls; one that leaves the queue is never sent", async () => {
    let running = 0
    let most = 0
    const server = await serve(
      (call, index) => {
        most = Math.max(most, ++running)
        call.stream.once('close', () => running--)
        setTimeout(() => ok(call, index), 20)
      },
      { settings: { maxConcurrentStreams: 2 } },
    )
    const transport = transportTo(server.address, { maxConnections: 1 })
    const abort = new AbortController()
    const replies = Array.from({ length: 7 }, (_, index) =>
      transport
        .unary(callOf(index === 6 ? { signal: abort.signal } : {}), REQUEST)
        .catch((error) => error.status),
    )
    await waitUntil(() => server.calls.length >= 2)
    abort.abort()
    expect((await Promise.all(replies)).map((reply) => (typeof reply === 'string' ? reply : 'ok'))).toEqual([
      ...Array.from({ length: 6 }, () => 'ok'),
      'CANCELLED',
    ])
    await transport.unary(callOf(), REQUEST)
    expect([most, server.calls.length]).toEqual([2, 7])
  })

  it('a stream hands on every message before its status, however slowly it is read', async () => {
    const messages = Array.from({ length: 40 }, (_, index) => `${index}`.padEnd(10_000, '.'))
    const server = await serve((call) =>
      answer(call, Buffer.concat(messages.map((message) => frame(message))), { 'grpc-status': '0' }),
    )
    const stream = transportTo(server.address).stream(callOf(), [REQUEST])
    const seen: string[] = []
    for await (const message of stream) {
      seen.push(text(message))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(seen).toEqual(messages)
    const failing = await serve((call) => answer(call, frame('a'), { 'grpc-status': '8' }))
    expect((await all(transportTo(failing.address).stream(callOf(), [REQUEST]))).at(-1)).toBe(
      'RESOURCE_EXHAUSTED',
    )
  })

  it('a stream reads compressed messages in order', async () => {
    const server = await serve((call) =>
      answer(call, Buffer.concat([frame(gzipSync('a'), 1), frame('b'), frame(gzipSync('c'), 1)]), undefined, {
        'grpc-encoding': 'gzip',
      }),
    )
    expect(await all(transportTo(server.address).stream(callOf(), [REQUEST]))).toEqual(['a', 'b', 'c'])
  })

  it('return() of a stream cancels while next() waits', async () => {
    const server = await serve(({ stream }) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
      stream.write(frame('a'))
    })
    const stream = transportTo(server.address).stream(callOf(), [REQUEST])
    expect(await stream.next()).toMatchObject({ done: false })
    const waiting = stream.next()
    expect(await stream.return?.()).toEqual({ done: true, value: undefined })
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(await stream.next()).toEqual({ done: true, value: undefined })
    await waitUntil(() => server.calls[0]?.stream.rstCode === constants.NGHTTP2_CANCEL)
  })

  it('a stream ends with its abort and its deadline', async () => {
    const server = await serve(never)
    const transport = transportTo(server.address)
    const abort = new AbortController()
    const aborted = all(transport.stream(callOf({ signal: abort.signal }), [REQUEST]))
    await waitUntil(() => server.calls.length === 1)
    abort.abort()
    expect(await aborted).toEqual(['CANCELLED'])
    expect(await all(transport.stream(callOf({ timeoutMs: 50 }), [REQUEST]))).toEqual(['DEADLINE_EXCEEDED'])
    expect(await all(transport.stream(callOf({ signal: abort.signal }), [REQUEST]))).toEqual(['CANCELLED'])
  })

  it('sends many requests on one stream', async () => {
    const server = await serve((call) => answer(call, call.body))
    async function* requests(): AsyncIterable<Uint8Array> {
      for (const request of ['a', 'b', 'c']) yield Buffer.from(request)
    }
    const transport = transportTo(server.address)
    expect(await all(transport.stream(callOf(), requests()))).toEqual(['a', 'b', 'c'])
    expect(await all(transport.stream(callOf(), [Buffer.from('d'), Buffer.from('e')]))).toEqual(['d', 'e'])
  })

  it('pings only while calls run', async () => {
    const server = await serve((call, index) => (index === 0 ? ok(call, index) : undefined))
    const transport = transportTo(server.address, { keepalive: { timeMs: 40, timeoutMs: 1_000 } })
    await transport.unary(callOf(), REQUEST)
    await new Promise((resolve) => setTimeout(resolve, 200))
    const idle = server.pings
    await expect(transport.unary(callOf({ timeoutMs: 300 }), REQUEST)).rejects.toMatchObject({
      status: 'DEADLINE_EXCEEDED',
    })
    expect(idle).toBeLessThanOrEqual(1)
    expect(server.pings).toBeGreaterThan(idle + 1)
  })

  it.each([
    ['speaks HTTP/1.1', 'HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n'],
    ['speaks nonsense', '\u0000\u0001\u0002'.repeat(20)],
    ['hangs up', ''],
  ])('a peer that %s is UNAVAILABLE', async (_what, words) => {
    const peer = createTcpServer((socket) => {
      socket.on('error', () => {}).resume()
      if (words === '') socket.destroy()
      else socket.end(words)
    })
    await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve))
    disposables().use(() => peer.close())
    const transport = transportTo(`127.0.0.1:${(peer.address() as AddressInfo).port}`)
    await expect(transport.unary(callOf(), REQUEST)).rejects.toMatchObject({ status: 'UNAVAILABLE' })
  })
})
