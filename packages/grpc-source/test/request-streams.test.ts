import { Server, ServerCredentials, type ServerDuplexStream, type ServerReadableStream } from '@grpc/grpc-js'
import { waitUntil } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { describeTransports, run, yogaWith } from './harness.ts'

const PROTO = `
syntax = "proto3";
package s;
message Item { int32 number = 1; }
message Empty {}
service Store {
  rpc Watch(stream Item) returns (stream Item);
  rpc Sum(stream Item) returns (stream Item);
  rpc Upload(stream Item) returns (Item);
  rpc Ping(stream Empty) returns (Item);
  rpc Silent(stream Item) returns (Item);
}
`

const bytes = {
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
}

function same(value: Buffer): Buffer {
  return value
}

function item(number: number): Buffer {
  return Buffer.from([8, number])
}

function numberOf(message: Buffer): number {
  return message[1] ?? 0
}

async function startStore() {
  const events: string[] = []
  const server = new Server()
  const stream = (name: string, responseStream: boolean) => ({
    path: `/s.Store/${name}`,
    requestStream: true,
    responseStream,
    ...bytes,
  })
  const sum = (
    call: ServerReadableStream<Buffer, Buffer>,
    callback: (error: null, reply: Buffer) => void,
  ): void => {
    let total = 0
    let count = 0
    call.on('data', (message: Buffer) => {
      total += numberOf(message)
      count += 1
    })
    call.on('end', () => callback(null, item(total === 0 ? count : total)))
  }
  server.addService(
    {
      Watch: stream('Watch', true),
      Sum: stream('Sum', true),
      Upload: stream('Upload', false),
      Ping: stream('Ping', false),
    },
    {
      // As etcd does: the end of the requests is the end of the watch.
      Watch(call: ServerDuplexStream<Buffer, Buffer>) {
        call.on('data', (message: Buffer) => {
          events.push(`request ${numberOf(message)}`)
          let number = numberOf(message)
          const timer = setInterval(() => call.write(item(number++)), 5)
          call.on('close', () => clearInterval(timer))
          call.on('cancelled', () => clearInterval(timer))
        })
        call.on('end', () => {
          events.push('end')
          call.end()
        })
        call.on('cancelled', () => events.push('cancelled'))
      },
      // Nothing is answered before the requests have ended.
      Sum(call: ServerDuplexStream<Buffer, Buffer>) {
        let total = 0
        call.on('data', (message: Buffer) => (total += numberOf(message)))
        call.on('end', () => {
          call.write(item(total))
          call.end()
        })
      },
      Upload: sum,
      Ping: sum,
    },
  )
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })
  onTestFinished(() => server.forceShutdown())
  return { address: `127.0.0.1:${port}`, events }
}

describeTransports('streams of requests', (source) => {
  it('with many replies are subscriptions: one request, after which no other comes', async () => {
    const { address, events } = await startStore()
    const grpc = await source({ protoText: { 's.proto': PROTO }, endpoint: address, expose: 'all' })
    const ask = async (query: string): Promise<string> =>
      (
        await yogaWith(grpc).fetch('http://test/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
          body: JSON.stringify({ query }),
        })
      ).text()
    expect(await ask('subscription { sum(number: 5) { number } }')).toContain('"number":5')
    expect(await ask('subscription { watch(number: 5) { number } }')).toContain('complete')
    expect(events.slice(0, 2)).toEqual(['request 5', 'end'])
  })

  it('stay open until the client leaves where the method says so', async () => {
    const { address, events } = await startStore()
    const grpc = await source({
      protoText: { 's.proto': PROTO },
      endpoint: address,
      expose: 'all',
      methods: { 's.Store.Watch': { keepRequestsOpen: true } },
    })
    const response = await yogaWith(grpc).fetch('http://test/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'subscription { watch(number: 5) { number } }' }),
    })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let text = ''
    while (!text.includes('"number":8')) text += Buffer.from((await reader.read()).value ?? []).toString()
    expect(text).toContain('"number":5')
    expect(events).toEqual(['request 5'])
    await reader.cancel()
    await waitUntil(() => events.length > 1)
    expect(events[1]).toMatch(/end|cancelled/)
  })

  it.each([
    [
      'mutation { upload(requests: [{ number: 1 }, { number: 2 }, { number: 4 }]) { number } }',
      { upload: { number: 7 } },
    ],
    ['mutation { upload(requests: []) { number } }', { upload: { number: 0 } }],
    ['mutation { ping(requests: [true, true]) { number } }', { ping: { number: 2 } }],
  ])('with one reply are mutations over a list: %s', async (query, data) => {
    const { address } = await startStore()
    const grpc = await source({ protoText: { 's.proto': PROTO }, endpoint: address, expose: 'all' })
    expect(await run(yogaWith(grpc), query)).toEqual({ data })
  })

  it('cannot be kept open by a method that has no such stream', async () => {
    const methods = { 's.Store.Upload': { keepRequestsOpen: true } }
    const started = source({
      protoText: { 's.proto': PROTO },
      endpoint: 'localhost:1',
      expose: 'all',
      methods,
    })
    await expect(started).rejects.toThrow(
      's.Store.Upload: keepRequestsOpen applies only to bidirectional streaming methods; remove it',
    )
  })

  it('fail as other calls do', async () => {
    const { address } = await startStore()
    const grpc = await source({ protoText: { 's.proto': PROTO }, endpoint: address, expose: 'all' })
    const { errors } = await run(yogaWith(grpc), 'mutation { silent(requests: [{ number: 1 }]) { number } }')
    expect(errors[0].extensions.code).toBe('NOT_IMPLEMENTED')
  })

  it('can be called without GraphQL', async () => {
    const { address } = await startStore()
    const grpc = await source({ protoText: { 's.proto': PROTO }, endpoint: address, expose: 'all' })
    expect(await grpc.call('s.Store.Upload', { requests: [{ number: 3 }, { number: 6 }] })).toEqual({
      number: 9,
    })
  })
})
