import type { PlanEvent } from '@vinyasa/source-kit'
import { printSchema } from 'graphql'
import { describe, expect, it } from 'vitest'
import { backend, run, source, yogaWith, type Yoga } from './harness.ts'

const PROTO = `
syntax = "proto3"; package n; import "graphql.proto"; import "google/protobuf/wrappers.proto";
service S {
  rpc Get(In) returns (All) { option (graphql.schema).name = "all"; }
  rpc Count(In) returns (In) { option (graphql.schema) = { name: "count" response { pluck: "a" } }; }
  rpc List(In) returns (In) { option (graphql.schema) = { name: "sizes" response { pluck: "list" } }; }
  rpc ByKeys(In) returns (All) { option (graphql.schema) = { type: RESOLVER name: "byKeys" }; }
}
message In {
  int64 a = 1; uint64 b = 2; sint64 c = 3; fixed64 d = 4; sfixed64 e = 5; uint32 f = 6; fixed32 g = 7;
  repeated int64 list = 8; google.protobuf.Int64Value boxed = 9; optional int64 maybe = 10; bytes raw = 11;
  map<int64, uint64> map = 12; oneof one { int64 left = 13; uint32 right = 14; }
}
message All { In in = 1; repeated In ins = 2; int64 key = 3; }`

const FIELDS = 'a b c d e f g list boxed maybe raw map { key value } left right'
const rename = { Long: 'Int', UInt32: 'Int', Bytes: 'String' }

const JOIN = {
  type: 'All',
  field: 'same',
  batch: { method: 'n.S.ByKeys', keys: 'list', items: 'ins', parentKey: 'key', itemKey: 'a' },
}

interface Asked {
  readonly answer: any
  readonly outcomes: readonly string[]
  readonly received: any
  readonly sdl: string
}

/** The same with plans and without. */
async function ask(values: object, query: string, variables: object = {}): Promise<Asked> {
  const asked: Asked[] = []
  for (const plans of [true, false]) {
    const server = await backend(
      { 'n.proto': PROTO },
      {
        'n.S/Get': () => ({ in: values, ins: [values, {}], key: '5000000000' }),
        'n.S/Count': () => values,
        'n.S/List': () => values,
        'n.S/ByKeys': ({ list }) => ({ ins: (list as string[]).map((a) => ({ a, f: 7 })) }),
      },
    )
    const events: PlanEvent[] = []
    const grpc = await source({
      protoText: { 'n.proto': PROTO },
      endpoint: server.address,
      int64: 'number-when-safe',
      rename,
      joins: [JOIN],
      plans,
      onPlan: (event) => events.push(event),
    })
    const yoga: Yoga = yogaWith(grpc)
    asked.push({
      answer: await run(yoga, query, { variables }),
      outcomes: events.map(({ outcome }) => outcome),
      received: server.calls[0]?.request,
      sdl: printSchema(grpc.schema),
    })
  }
  const [planned, ordinary] = asked as [Asked, Asked]
  expect(JSON.stringify(planned.answer)).toBe(JSON.stringify(ordinary.answer))
  expect(planned.received).toEqual(ordinary.received)
  return planned
}

const SMALL = {
  a: '-2147483648',
  b: '2147483647',
  c: '-1',
  d: '7',
  e: '-7',
  f: 2147483647,
  g: 1,
  list: ['1', '-2147483648'],
  boxed: { value: '0' },
  maybe: '0',
  raw: Buffer.from([0, 255]),
  map: { '-2147483648': '3' },
  left: '5',
}

describe('rename: { Long: Int, UInt32: Int, Bytes: String }', () => {
  it('gives clients Int for every integer, planned or not', async () => {
    const { answer, outcomes, sdl } = await ask(SMALL, `{ all { in { ${FIELDS} } ins { ${FIELDS} } } }`)
    expect(sdl).not.toMatch(/Long|UInt32|Bytes/)
    expect(sdl).toContain('list: [Int!]!')
    const own = {
      a: -2147483648,
      b: 2147483647,
      c: -1,
      d: 7,
      e: -7,
      f: 2147483647,
      g: 1,
      list: [1, -2147483648],
      boxed: 0,
      maybe: 0,
      raw: 'AP8=',
      map: [{ key: -2147483648, value: 3 }],
      left: 5,
      right: null,
    }
    const none = {
      a: 0,
      b: 0,
      c: 0,
      d: 0,
      e: 0,
      f: 0,
      g: 0,
      list: [],
      boxed: null,
      maybe: null,
      raw: '',
      map: [],
      left: null,
      right: null,
    }
    expect(answer).toEqual({ data: { all: { in: own, ins: [own, none] } } })
    expect(outcomes).toEqual(['planned'])
  })

  const beyond: readonly (readonly [string, object, string])[] = [
    ['a', { a: '2147483648' }, '2147483648'],
    ['a', { a: '-2147483649' }, '-2147483649'],
    ['a', { a: '9223372036854775807' }, '9223372036854775807'],
    ['b', { b: '18446744073709551615' }, '18446744073709551615'],
    ['c', { c: '-9007199254740993' }, ''],
    ['d', { d: '4294967296' }, ''],
    ['e', { e: '4294967297' }, ''],
    ['f', { f: 4294967295 }, '4294967295'],
    ['g', { g: 2147483648 }, ''],
    ['boxed', { boxed: { value: '5000000000' } }, ''],
    ['maybe', { maybe: '5000000000' }, ''],
    ['left', { left: '5000000000' }, ''],
    ['right', { right: 4294967295 }, ''],
  ]
  it.each(beyond)(
    'a value of %s that does not fit is an error at its place, never another number: %j',
    async (name, values) => {
      const { answer } = await ask(values, `{ all { in { ${name} } } }`)
      expect(answer.data).toEqual({ all: { in: { [name]: null } } })
      expect(answer.errors).toEqual([
        expect.objectContaining({ path: ['all', 'in', name], extensions: { code: 'INTERNAL_SERVER_ERROR' } }),
      ])
      expect(answer.errors[0].message).toMatch(
        /^In\.\w+ has a value that is not a 32-bit integer, so the type Int cannot represent the value\.$/,
      )
    },
  )

  it('one of a list, a key and a value of a map that do not fit take what holds them', async () => {
    const { answer } = await ask({ list: ['1', '5000000000'] }, '{ all { in { list } ins { a } } }')
    expect(answer.data).toEqual({ all: { in: null, ins: [{ a: 0 }, { a: 0 }] } })
    expect(answer.errors[0].path).toEqual(['all', 'in', 'list', 1])
    for (const map of [{ 5_000_000_000: '1' }, { 1: '5000000000' }]) {
      const { answer: mapped } = await ask({ map }, '{ all { in { map { key value } } ins { a } } }')
      expect(mapped.data.all.in).toBeNull()
    }
  })

  it('what a method plucks fits, or is an error of its field', async () => {
    const fits = await ask({ a: '5', list: ['1'] }, '{ count sizes }')
    expect(fits.answer).toEqual({ data: { count: 5, sizes: [1] } })
    const { answer } = await ask({ a: '5000000000', list: [] }, '{ count sizes }')
    expect(answer).toMatchObject({ data: { count: null, sizes: [] }, errors: [{ path: ['count'] }] })
    expect(answer.errors[0].message).toMatch(/^Query\.count has a value that is not a 32-bit integer/)
  })

  it('a join goes by keys that do not fit, as long as no client asks for them', async () => {
    const { answer, outcomes } = await ask({}, '{ all { same { f } } }')
    expect(answer).toEqual({ data: { all: { same: { f: 7 } } } })
    expect(outcomes).toEqual(['planned'])
  })

  it('takes Int from clients, in literals, variables and lists, and sends it exactly', async () => {
    const query = `query ($a: Int, $list: [Int!], $raw: String, $f: Int) {
      all(a: $a, b: 4, c: -3, list: $list, boxed: 9, raw: $raw, f: $f, map: [{ key: -2, value: 8 }]) { in { a } }
    }`
    const { answer, received } = await ask({}, query, {
      a: -2147483648,
      list: [1, 2147483647],
      raw: 'AP8=',
      f: 3,
    })
    expect(answer.errors).toBeUndefined()
    expect(received).toMatchObject({
      a: '-2147483648',
      b: '4',
      c: '-3',
      list: ['1', '2147483647'],
      f: 3,
    })
    // The server's library writes keys of 64 bits as their bytes.
    expect(Object.values(received.map)).toEqual(['8'])
    expect(Buffer.from(received.raw)).toEqual(Buffer.from([0, 255]))
  })

  it.each([
    ['a literal beyond', '{ all(a: 2147483648) { in { a } } }', {}],
    ['a variable beyond', 'query ($a: Int) { all(a: $a) { in { a } } }', { a: 2147483648 }],
    ['a text', 'query ($a: Int) { all(a: $a) { in { a } } }', { a: '5' }],
    ['a fraction', 'query ($a: Int) { all(a: $a) { in { a } } }', { a: 1.5 }],
    ['below zero where nothing is', '{ all(f: -1) { in { a } } }', {}],
    ['below zero where nothing is, of 64 bits', '{ all(b: -1) { in { a } } }', {}],
    ['no base64', '{ all(raw: "?") { in { a } } }', {}],
  ])('refuses %s, and calls nothing', async (_, query, variables) => {
    const { answer, received } = await ask({}, query, variables)
    // Without the gateway's own code, as Yoga says it of any Int.
    expect(JSON.stringify(answer.errors)).toMatch(/BAD_USER_INPUT|Int cannot represent/)
    expect(received).toBeUndefined()
  })
})
