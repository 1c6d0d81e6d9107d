import { Client, credentials, Metadata, status } from '@grpc/grpc-js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createDisposables, grpcError, parseProtos, startGrpcBackend, waitUntil } from '../src/index.ts'

const files = {
  'shop/item.proto': 'syntax = "proto3"; package shop; message Item { int64 id = 1; string name = 2; }',
  'shop/shop.proto': `
    syntax = "proto3";
    package shop;
    import "shop/item.proto";
    import "google/protobuf/empty.proto";
    service Shop {
      rpc GetItem(Item) returns (Item);
      rpc Watch(google.protobuf.Empty) returns (stream Item);
      rpc Collect(stream Item) returns (Item);
      rpc Silent(Item) returns (Item);
    }`,
}

async function start(handlers: Parameters<typeof startGrpcBackend>[0]['handlers']) {
  const disposables = createDisposables(onTestFinished)
  const backend = disposables.use(await startGrpcBackend({ protos: files, handlers }))
  const item = (await parseProtos(files)).lookupType('shop.Item')
  const client = disposables.use(new Client(backend.address, credentials.createInsecure()))
  const encode = (value: object) => Buffer.from(item.encode(item.fromObject(value)).finish())
  const decode = (bytes: Buffer) => item.toObject(item.decode(bytes), { longs: String })
  return { backend, client, encode, decode }
}

type Started = Awaited<ReturnType<typeof start>>

function getItem(
  { client, encode, decode }: Started,
  id: string,
  metadata = new Metadata(),
  timeoutMs = 5_000,
) {
  return new Promise<any>((resolve, reject) => {
    client.makeUnaryRequest(
      '/shop.Shop/GetItem',
      encode,
      decode,
      { id },
      metadata,
      { deadline: Date.now() + timeoutMs },
      (error, answer) => (error ? reject(error) : resolve(answer)),
    )
  })
}

describe('startGrpcBackend', () => {
  it('answers from handlers and records request, metadata and deadline', async () => {
    const started = await start({ 'shop.Shop/GetItem': ({ id }) => ({ id, name: `item ${id}` }) })
    const metadata = new Metadata()
    metadata.set('x-tenant', 'a')
    expect(await getItem(started, '9007199254740993', metadata)).toEqual({
      id: '9007199254740993',
      name: 'item 9007199254740993',
    })
    const [call] = started.backend.callsOf('shop.Shop/GetItem')
    expect(call).toMatchObject({
      request: { id: '9007199254740993' },
      metadata: { 'x-tenant': ['a'] },
      cancelledAt: undefined,
    })
    expect(call!.timeLeftMs).toBeGreaterThan(3_000)
  })

  it('answers the status a handler throws, and UNIMPLEMENTED without a handler', async () => {
    const started = await start({})
    await expect(getItem(started, '1')).rejects.toMatchObject({ code: status.UNIMPLEMENTED })
    started.backend.handle('shop.Shop/GetItem', () => {
      throw grpcError(status.NOT_FOUND, 'no such item')
    })
    await expect(getItem(started, '1')).rejects.toMatchObject({
      code: status.NOT_FOUND,
      details: 'no such item',
    })
  })

  it('sees a cancellation', async () => {
    const started = await start({
      'shop.Shop/GetItem': (_, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve({}))),
    })
    await expect(getItem(started, '1', new Metadata(), 100)).rejects.toMatchObject({
      code: status.DEADLINE_EXCEEDED,
    })
    await waitUntil(() => started.backend.calls[0]!.cancelledAt)
  })

  it('streams with back-pressure: a caller that does not read stops the sender', async () => {
    async function* items() {
      for (let id = 0; id < 5_000; id++) yield { id, name: 'x'.repeat(1_000) }
    }
    const { backend, client, decode } = await start({ 'shop.Shop/Watch': items })
    const call = client.makeServerStreamRequest('/shop.Shop/Watch', () => Buffer.alloc(0), decode, {})
    const received = call[Symbol.asyncIterator]()
    // grpc-js holds its sender back only after a first read.
    await received.next()
    let before = -1
    await waitUntil(
      () => {
        const still = before === backend.calls[0]!.sent
        before = backend.calls[0]!.sent
        return still
      },
      { everyMs: 100 },
    )
    expect(before).toBeLessThan(2_000)
    let count = 1
    while (!(await received.next()).done) count++
    expect(count).toBe(5_000)
  })

  it('takes a stream of requests', async () => {
    const { backend, client, encode, decode } = await start({
      'shop.Shop/Collect': async (items: AsyncIterable<{ name: string }>) => {
        let name = ''
        for await (const item of items) name += item.name
        return { name }
      },
    })
    const answer = await new Promise((resolve, reject) => {
      const call = client.makeClientStreamRequest('/shop.Shop/Collect', encode, decode, (error, value) =>
        error ? reject(error) : resolve(value),
      )
      for (const name of ['a', 'b']) call.write({ name })
      call.end()
    })
    expect(answer).toMatchObject({ name: 'ab' })
    expect(backend.calls[0]!.request).toMatchObject([{ name: 'a' }, { name: 'b' }])
  })

  it('can be stopped and restarted on the same port', async () => {
    const started = await start({ 'shop.Shop/GetItem': ({ id }) => ({ id }) })
    await getItem(started, '1')
    await started.backend.stop()
    await expect(getItem(started, '2', new Metadata(), 300)).rejects.toMatchObject({
      code: status.UNAVAILABLE,
    })
    await started.backend.restart()
    await waitUntil(() => getItem(started, '3', new Metadata(), 1_000))
  })

  it('refuses a handler for a method that does not exist', async () => {
    await expect(
      startGrpcBackend({ protos: files, handlers: { 'shop.Shop/Nope': () => ({}) } }),
    ).rejects.toThrow('Handlers for methods that no proto has: shop.Shop/Nope')
  })
})
