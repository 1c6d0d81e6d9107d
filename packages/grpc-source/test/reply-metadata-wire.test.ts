import type { MetadataEntries, Transport } from '@vinyasa/grpc-transport'
import { createHttp2Transport } from '@vinyasa/grpc-transport'
import { describe, expect, it } from 'vitest'
import { createGrpcJsTransport } from '../src/runtime/grpc-js-transport.ts'
import { disposables } from './harness.ts'
import { answer, frame, startWireServer, type WireHandler } from './wire-server.ts'

const GRPC = { ':status': 200, 'content-type': 'application/grpc' }

describe.each([
  ['http2', createHttp2Transport],
  ['grpc-js', createGrpcJsTransport],
] as const)('what a reply brings beside its messages, %s', (_, create) => {
  async function ask(handler: WireHandler, ways: { fails?: boolean } = {}) {
    const server = disposables().use(await startWireServer(handler))
    const transport: Transport = disposables().use(
      create({ address: server.address, tls: undefined, channel: {} }),
    )
    const told: (readonly [string, MetadataEntries])[] = []
    // The two calls can be answered in different seconds.
    const withoutDate = (metadata: MetadataEntries) => metadata.filter(([name]) => name !== 'date')
    const call = {
      path: '/w.S/Get',
      metadata: [],
      timeoutMs: 10_000,
      signal: undefined,
      onHeaders: (metadata: MetadataEntries) => {
        told.push(['headers', withoutDate(metadata)])
        if (ways.fails) throw new Error('a listener fails')
      },
      onTrailers: (metadata: MetadataEntries) => {
        told.push(['trailers', withoutDate(metadata)])
        if (ways.fails) throw new Error('a listener fails')
      },
    }
    const unary = await transport.unary(call, Buffer.from('ask')).then(
      () => told.splice(0),
      () => told.splice(0),
    )
    const messages = transport.stream(call, [Buffer.from('ask')])
    try {
      for await (const message of messages) expect(message.length).toBeGreaterThan(0)
    } catch {
      // Its status is not what is asked for here.
    }
    expect(told).toEqual(unary)
    return unary
  }

  it('headers before the message, trailers at the end, several values and bytes', async () => {
    const seen = await ask((call) =>
      answer(
        call,
        frame('reply'),
        { 'grpc-status': '0', 'grpc-message': '', 'x-cost': '3', 'x-sum-bin': 'AP8=' },
        { 'x-zone': 'a', 'grpc-encoding': 'identity', 'x-key-bin': 'q6ur' },
      ),
    )
    expect(seen).toEqual([
      [
        'headers',
        [
          ['x-zone', 'a'],
          ['x-key-bin', Buffer.from([0xab, 0xab, 0xab])],
        ],
      ],
      [
        'trailers',
        [
          ['x-cost', '3'],
          ['x-sum-bin', Buffer.from([0, 255])],
        ],
      ],
    ])
  })

  it('a reply without messages has trailers alone, and so has one that failed', async () => {
    const only = await ask(({ stream }) =>
      stream.respond({ ...GRPC, 'grpc-status': '5', 'x-why': 'gone' }, { endStream: true }),
    )
    expect(only).toEqual([['trailers', expect.arrayContaining([['x-why', 'gone']])]])
    const failed = await ask((call) =>
      answer(call, Buffer.alloc(0), { 'grpc-status': '7', 'x-why': 'no' }, { 'x-zone': 'b' }),
    )
    expect(failed).toEqual([
      ['headers', [['x-zone', 'b']]],
      ['trailers', [['x-why', 'no']]],
    ])
  })

  it('a listener that throws fails neither its call nor others', async () => {
    const seen = await ask((call) => answer(call, frame('reply')), { fails: true })
    expect(seen.map(([kind]) => kind)).toEqual(['headers', 'trailers'])
  })
})
