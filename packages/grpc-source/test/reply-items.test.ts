import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { createTurns } from '@vinyasa/core'
import { createYoga } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { readValue, writeValue } from '../src/codec/json-values.ts'
import { replyReader } from '../src/calls/reply-reader.ts'
import { TooManyItemsError, WireReader } from '../src/codec/wire-reader.ts'
import { createGrpcSource, useGrpcSource } from '../src/index.ts'
import { disposables } from './harness.ts'
import { answer, frame, startWireServer } from './wire-server.ts'

const PROTO = `syntax = "proto3"; package h;
import "google/protobuf/struct.proto";
service L { rpc List(ListRequest) returns (Reply); }
message ListRequest {}
message Reply {
  repeated Item items = 1;
  repeated string texts = 2;
  repeated int32 numbers = 3;
  map<int32, string> entries = 4;
  Reply inner = 5;
  google.protobuf.Struct any = 6;
  google.protobuf.ListValue list = 7;
  int32 last = 8;
}
message Item { string name = 1; }`

const MAX = 100
const repeat = (count: number, ...bytes: number[]): Buffer =>
  Buffer.alloc(bytes.length * count, Buffer.from(bytes))
const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, value >>> 7])
const within = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([0x2a, ...varint(bytes.length)]), bytes])

const fields = 'items { name } texts numbers entries { key value } any list'
const EVERYTHING = `${fields} inner { ${fields} }`

async function ask(bytes: Buffer, plans: boolean, selection: string = EVERYTHING): Promise<any> {
  const server = disposables().use(await startWireServer((call) => answer(call, frame(bytes))))
  const source = disposables().use(
    await createGrpcSource({
      name: 'lists',
      endpoint: server.address,
      protoText: { 'h.proto': PROTO },
      methods: { 'h.L.List': { schema: { name: 'list' } } },
      maxResponseItems: MAX,
      plans,
    }),
  )
  const yoga = createYoga({ plugins: [useGrpcSource(source)], logging: false, maskedErrors: false })
  const response = await yoga.fetch('http://yoga/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: `{ list { ${selection} } }` }),
  })
  return response.json()
}

/** A field with a message. */
const message = (number: number, ...parts: readonly Buffer[]): Buffer => {
  const bytes = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([number * 8 + 2, ...varint(bytes.length)]), bytes])
}
/** `{ "k": [true, …] }`, of so many members. */
const struct = (count: number): Buffer => {
  const list = message(6, ...Array.from({ length: count - 1 }, () => message(1, Buffer.of(0x20, 1))))
  return message(6, message(1, message(1, Buffer.from('k')), message(2, list)))
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
    ['values of a list of any values', (count: number) => message(7, repeat(count, 0x0a, 2, 0x20, 1))],
    ['members of an object of any values', struct],
    ['messages within', (count: number) => within(repeat(count, 0x0a, 0))],
    [
      'members of several lists',
      (count: number) => Buffer.concat([within(repeat(count - 60, 0x0a, 0)), repeat(60, 0x12, 0)]),
    ],
  ])('%s: as many as may be, and one more', async (_what, bytes) => {
    expect(await ask(bytes(MAX), plans)).toMatchObject({ data: { list: {} } })
    const { data, errors } = await ask(bytes(MAX + 1), plans)
    expect(data).toEqual({ list: null })
    expect(errors).toMatchObject([{ extensions: { code: 'RESPONSE_TOO_LARGE', limit: MAX } }])
    // Items count whether they are selected or not.
    for (const selection of ['__typename', 'inner { list }', 'last', 'last __typename inner { last }']) {
      const reply = (count: number): Buffer => Buffer.concat([bytes(count), Buffer.of(0x40, 1)])
      expect(await ask(reply(MAX), plans, selection)).toMatchObject({ data: { list: {} } })
      const unselected = await ask(reply(MAX + 1), plans, selection)
      expect(unselected.errors).toMatchObject([{ extensions: { code: 'RESPONSE_TOO_LARGE', limit: MAX } }])
    }
  })
})

it('items count once, also where a message is not in the order that a plan expected', async () => {
  const bytes = Buffer.concat([within(repeat(MAX, 0x12, 0)), message(6)])
  expect(await ask(bytes, true, 'inner { texts } list')).toEqual({
    data: { list: { inner: { texts: Array.from({ length: MAX }, () => '') }, list: null } },
  })
})

it('members of a JSON value count however many levels down they are', () => {
  const members = Array.from({ length: 100 }, () => true)
  const json = Array.from({ length: 499 }).reduce<unknown>((inner) => ({ k: inner }), members)
  const bytes = writeValue(new BinaryWriter(), json).finish()
  expect(readValue(new WireReader(bytes, 599))).toEqual(json)
  expect(() => readValue(new WireReader(bytes, 598))).toThrow('maxResponseItems')
})

it('a plan that counted too many items does not have them decoded, to count them again', async () => {
  const reading = (error: Error) => {
    const decoded: number[] = []
    const field = {
      transcoder: { begin: () => {}, json: { literal: () => {} } },
      turns: createTurns(),
      codecs: { decoder: () => (bytes: Uint8Array) => decoded.push(bytes.length) },
    }
    const call = {
      write() {
        throw error
      },
    }
    const read = replyReader(field as never, call as never, '', '')
    return { decoded, read: async (length: number) => read(new Uint8Array(length)) }
  }
  for (const length of [10, 1_000_000]) {
    const counted = reading(new TooManyItemsError(1))
    await expect(counted.read(length)).rejects.toThrow('maxResponseItems')
    expect(counted.decoded).toEqual([])
    const other = reading(new Error('not for a plan'))
    expect(await other.read(length)).toMatchObject({ json: undefined, reason: 'not for a plan' })
    expect(other.decoded).toEqual([length])
  }
})
