import { describeWithNginx, startNginx } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { createHttp2Transport } from '@vinyasa/grpc-transport'
import type { Transport } from '@vinyasa/grpc-transport'
import { backend, disposables, source } from './harness.ts'
import { answer, frame, startWireServer } from './wire-server.ts'

/** Asked: none of 50,000 fails. */
const CALLS = Number(process.env['NGINX_CALLS'] ?? 1_000)
const PROTO = `
syntax = "proto3";
package n;
import "graphql.proto";
service S { rpc Put(Req) returns (Res) { option (graphql.schema) = { type: MUTATION name: "put" }; } }
message Req { string id = 1; }
message Res { string text = 1; }
`
const CALL = { path: '/w.S/Get', metadata: [], timeoutMs: 10_000, signal: undefined }

// nginx keeps a table of the headers it sends, writes them in Huffman codes, and cuts data into frames of its own.
describeWithNginx('transport http2 through nginx', () => {
  /** The backend answers with as many bytes as it is asked for; for "no", with an error. */
  async function transport(): Promise<Transport> {
    const scope = disposables()
    const backend = scope.use(
      await startWireServer((call) => {
        const asked = call.body.toString('latin1', 5)
        const echo = { 'x-echo': String(call.headers['x-long'] ?? '') }
        if (asked === 'no')
          answer(call, Buffer.alloc(0), { 'grpc-status': '9', 'grpc-message': 'n%C3%B6' }, echo)
        else answer(call, frame(Buffer.alloc(Number(asked), 'x')), { 'grpc-status': '0', ...echo })
      }),
    )
    const { port } = scope.use(
      await startNginx({ listen: 'http2', location: `grpc_pass grpc://${backend.address};` }),
    )
    return scope.use(createHttp2Transport({ address: `127.0.0.1:${port}`, tls: undefined, channel: {} }))
  }

  it('replies of all sizes are whole', async () => {
    const { unary } = await transport()
    for (const size of [0, 1, 16_383, 16_384, 65_536, 1_000_000, 3_000_000]) {
      const reply = await unary(CALL, Buffer.from(String(size)))
      expect([reply.length, reply.every((byte) => byte === 120)]).toEqual([size, true])
    }
  })

  it('500 calls at once, each with headers of its own, get their own replies', async () => {
    const { unary } = await transport()
    const sizes = Array.from({ length: 500 }, (_, index) => index * 20)
    const replies = await Promise.all(
      sizes.map((size) =>
        unary({ ...CALL, metadata: [['x-long', `${size} `.repeat(100).trim()]] }, Buffer.from(String(size))),
      ),
    )
    expect(replies.map((reply) => reply.length)).toEqual(sizes)
  })

  // Each connection ends after a hundred requests and takes five at once: calls it refuses unseen are sent again, those it
  // took are not.
  it(`${CALLS} mutations, 200 at once, over connections of 100 requests with 5 streams: each arrives once`, async () => {
    const scope = disposables()
    const seen = new Map<string, number>()
    const up = await backend(
      { 'n.proto': PROTO },
      {
        'n.S/Put': ({ id }: { id: string }) => {
          seen.set(id, (seen.get(id) ?? 0) + 1)
          return { text: id }
        },
      },
    )
    const { port } = scope.use(
      await startNginx({
        listen: 'http2',
        http: 'keepalive_requests 100; http2_max_concurrent_streams 5;',
        location: `grpc_pass grpc://${up.address};`,
      }),
    )
    const grpc = await source({ protoText: { 'n.proto': PROTO }, endpoint: `127.0.0.1:${port}` })
    const failures: unknown[] = []
    let next = 0
    const caller = async (): Promise<void> => {
      while (next < CALLS) {
        const id = String(next++)
        const reply = await grpc.call('n.S.Put', { id }).catch((error: unknown) => failures.push(error))
        if (typeof reply === 'object' && (reply as { text: string }).text !== id) failures.push(reply)
      }
    }
    await Promise.all(Array.from({ length: 200 }, caller))
    expect(failures).toEqual([])
    expect([seen.size, Math.max(...seen.values())]).toEqual([CALLS, 1])
  }, 300_000)

  it('errors of the backend, and of nginx without one, have their codes', async () => {
    const { unary } = await transport()
    await expect(unary(CALL, Buffer.from('no'))).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
      message: 'nö',
    })
    const scope = disposables()
    const { port } = scope.use(await startNginx({ listen: 'http2', location: 'return 503;' }))
    const alone = scope.use(
      createHttp2Transport({ address: `127.0.0.1:${port}`, tls: undefined, channel: {} }),
    )
    await expect(alone.unary(CALL, Buffer.from('1'))).rejects.toMatchObject({ status: 'UNAVAILABLE' })
  })
})
