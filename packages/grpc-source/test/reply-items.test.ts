import { createYoga } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { createGrpcSource, useGrpcSource } from '../src/index.ts'
import { disposables } from './harness.ts'
import { answer, frame, startWireServer } from './wire-server.ts'

const PROTO = `syntax = "proto3"; package h;
service L { rpc List(ListRequest) returns (Reply); }
message ListRequest {}
message Reply {
  repeated Item items = 1;
  repeated string texts = 2;
  repeated int32 numbers = 3;
  map<int32, string> entries = 4;
  Reply inner = 5;
}
message Item { string name = 1; }`

const MAX = 100
const repeat = (count: number, ...bytes: number[]): Buffer =>
  Buffer.alloc(bytes.length * count, Buffer.from(bytes))
const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, value >>> 7])
const within = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([0x2a, ...varint(bytes.length)]), bytes])

async function ask(bytes: Buffer, plans: boolean): Promise<any> {
  const server = disposables().use(await startWireServer((call) => answer(call, frame(bytes))))
  const source = disposables().use(
    await createGrpcSource({
      name: 'lists',
      endpoint: server.address,
      protoText: { 'h.proto': PROTO },
      methods: { 'h.L.List': { schema: { name: 'list' } } },
      maxReplyItems: MAX,
      plans,
    }),
  )
  const yoga = createYoga({ plugins: [useGrpcSource(source)], logging: false, maskedErrors: false })
  const fields = 'items { name } texts numbers entries { key value }'
  const response = await yoga.fetch('http://yoga/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: `{ list { ${fields} inner { ${fields} } } }` }),
  })
  return response.json()
}

const entries = (count: number): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, index) => Buffer.of(0x22, 2, 8, index)))

describe.each([true, false])('with plans: %s', (plans) => {
  it.each([
    ['messages', (count: number) => repeat(count, 0x0a, 0)],
    ['texts', (count: number) => repeat(count, 0x12, 0)],
    ['numbers', (count: number) => repeat(count, 0x18, 1)],
    [
      'packed numbers',
      (count: number) => Buffer.concat([Buffer.from([0x1a, ...varint(count)]), repeat(count, 1)]),
    ],
    ['entries of a map', entries],
    ['messages within', (count: number) => within(repeat(count, 0x0a, 0))],
    [
      'members of several lists',
      (count: number) => Buffer.concat([within(repeat(count - 60, 0x0a, 0)), repeat(60, 0x12, 0)]),
    ],
  ])('%s: as many as may be, and one more', async (_what, bytes) => {
    expect(await ask(bytes(MAX), plans)).toMatchObject({ data: { list: {} } })
    const { data, errors } = await ask(bytes(MAX + 1), plans)
    expect(data).toEqual({ list: null })
    expect(errors).toMatchObject([{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }])
  })
})
