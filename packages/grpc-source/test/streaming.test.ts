import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { grpcError, waitUntil } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { backend, describeTransports, disposables, yogaWith, type Yoga } from './harness.ts'

const PROTO = `
syntax = "proto3";
package s;
import "graphql.proto";
service Ticks {
  rpc Watch(WatchRequest) returns (stream Tick) { option (graphql.schema) = { type: SUBSCRIPTION name: "ticks" }; }
  rpc Slow(WatchRequest) returns (Tick) { option (graphql.schema) = { name: "slow" }; }
}
message WatchRequest { int32 count = 1; }
message Tick { int32 number = 1; string padding = 2; }
`

async function* counting({ count }: { count: number }): AsyncIterable<object> {
  for (let number = 1; number <= count; number++) yield { number }
}

async function subscribe(yoga: Yoga, query: string, signal?: AbortSignal): Promise<Response> {
  return yoga.fetch('http://test/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query }),
    ...(signal ? { signal } : {}),
  })
}

describeTransports('server streaming', (source) => {
  it('is a subscription field that ends when the stream ends', async () => {
    const { address } = await backend({ 's.proto': PROTO }, { 's.Ticks/Watch': counting })
    const yoga = yogaWith(await source({ protoText: { 's.proto': PROTO }, endpoint: address }))
    const text = await (await subscribe(yoga, 'subscription { ticks(count: 3) { number } }')).text()
    expect([...text.matchAll(/"number":(\d)/g)].map(([, number]) => number)).toEqual(['1', '2', '3'])
    expect(text).toContain('event: complete')
  })

  it('ends with the source: subscribers get `complete`, and the backend hears of it', async () => {
    async function* silent(): AsyncIterable<object> {
      yield { number: 1 }
      await new Promise(() => {})
    }
    const { address, calls } = await backend({ 's.proto': PROTO }, { 's.Ticks/Watch': silent })
    const grpc = await source({ protoText: { 's.proto': PROTO }, endpoint: address })
    const response = await subscribe(yogaWith(grpc), 'subscription { ticks { number } }')
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let text = ''
    const readUntil = async (wanted: string): Promise<void> => {
      while (!text.includes(wanted)) {
        const { done, value } = await reader.read()
        if (done) return
        text += Buffer.from(value).toString()
      }
    }
    await readUntil('"number":1')
    await grpc.close()
    await readUntil('event: complete')
    expect(text).toContain('event: complete')
    expect(text).not.toContain('errors')
    await waitUntil(() => calls[0]?.cancelledAt)
  })

  it("brings the stream's end status to the client", async () => {
    async function* failing(): AsyncIterable<object> {
      yield { number: 1 }
      throw grpcError(8, 'slow down')
    }
    const { address } = await backend({ 's.proto': PROTO }, { 's.Ticks/Watch': failing })
    const yoga = yogaWith(await source({ protoText: { 's.proto': PROTO }, endpoint: address }))
    const text = await (await subscribe(yoga, 'subscription { ticks { number } }')).text()
    expect(text).toContain('"number":1')
    expect(text).toContain('RATE_LIMITED')
    expect(text).not.toContain('slow down')
  })

  it('is cancelled while it waits, when the client leaves', async () => {
    async function* quiet(_request: unknown, { signal }: { signal: AbortSignal }): AsyncIterable<object> {
      yield { number: 1 }
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    }
    const { address, calls } = await backend({ 's.proto': PROTO }, { 's.Ticks/Watch': quiet })
    const grpc = await source({ protoText: { 's.proto': PROTO }, endpoint: address })
    const { port, left } = await listening(yogaWith(grpc))
    const leave = await openSse(port, 'subscription { ticks { number } }')
    const leftAt = leave()
    const cancelledAt = await waitUntil(() => calls[0]?.cancelledAt)
    expect(cancelledAt - leftAt).toBeLessThan(50 + left)
  })

  it('ends the RPC of a query whose client left', async () => {
    const { address, calls } = await backend(
      { 's.proto': PROTO },
      { 's.Ticks/Slow': () => new Promise(() => {}) },
    )
    const grpc = await source({ protoText: { 's.proto': PROTO }, endpoint: address })
    const { port, left } = await listening(yogaWith(grpc))
    const socket = connect(port, '127.0.0.1')
    const body = JSON.stringify({ query: '{ slow { number } }' })
    socket.write(
      `POST /graphql HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    await waitUntil(() => calls.length === 1)
    socket.destroy()
    const leftAt = performance.now()
    const cancelledAt = await waitUntil(() => calls[0]?.cancelledAt)
    expect(cancelledAt - leftAt).toBeLessThan(50 + left)
  })

  it('stops the sender when the client reads slowly', async () => {
    const padding = 'x'.repeat(16_384)
    async function* endless(): AsyncIterable<object> {
      for (let number = 1; number <= 20_000; number++) yield { number, padding }
    }
    const { address, calls } = await backend({ 's.proto': PROTO }, { 's.Ticks/Watch': endless })
    const grpc = await source({ protoText: { 's.proto': PROTO }, endpoint: address })
    const { port } = await listening(yogaWith(grpc))
    const socket = connect(port, '127.0.0.1')
    disposables().use(() => socket.destroy())
    socket.pause()
    const body = JSON.stringify({ query: 'subscription { ticks { number padding } }' })
    socket.write(
      `POST /graphql HTTP/1.1\r\nhost: test\r\naccept: text/event-stream\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    let before = -1
    const sent = await waitUntil(
      () => {
        const now = calls[0]?.sent ?? 0
        const isStill = now > 0 && now === before
        before = now
        return isStill ? now : undefined
      },
      // A busy machine may keep a sender that may go on waiting for less than that.
      { everyMs: 1_000 },
    )
    // Flat: nothing more is taken from the stream while nobody reads.
    const heldAt = process.memoryUsage().rss
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(calls[0]?.sent).toBe(sent)
    const grownMb = (process.memoryUsage().rss - heldAt) / 1e6
    process.stderr.write(
      `a slow reader: ${sent} of 20,000 sent, memory grew by ${grownMb.toFixed(1)} MB in a second\n`,
    )
    expect(grownMb).toBeLessThan(32)
    // 20,000 would be 320 MB; what stands in sockets and windows is a few MB.
    expect(sent).toBeLessThan(2_000)
  })
})

/** A real HTTP server, and how long this machine lets an immediate thing wait. */
async function listening(yoga: Yoga): Promise<{ port: number; left: number }> {
  const server = createServer(yoga as never)
  disposables().use(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const before = performance.now()
  await new Promise((resolve) => setTimeout(resolve, 5))
  return { port: (server.address() as AddressInfo).port, left: (performance.now() - before) * 10 }
}

async function openSse(port: number, query: string): Promise<() => number> {
  const socket = connect(port, '127.0.0.1')
  const body = JSON.stringify({ query })
  socket.write(
    `POST /graphql HTTP/1.1\r\nhost: test\r\naccept: text/event-stream\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  let text = ''
  socket.on('data', (chunk) => (text += String(chunk)))
  await waitUntil(() => text.includes('"number":1'))
  return () => {
    socket.destroy()
    return performance.now()
  }
}
