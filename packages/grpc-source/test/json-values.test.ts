import { create, fromBinary, fromJson, toBinary, toJson, type JsonValue } from '@bufbuild/protobuf'
import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { ListValueSchema, StructSchema, ValueSchema } from '@bufbuild/protobuf/wkt'
import { assert, jsonValue, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readList, readStruct, readValue, writeValue } from '../src/codec/json-values.ts'
import { WireReader } from '../src/codec/wire-reader.ts'
import { run, source, yogaWith } from './harness.ts'

const bytesOf = (value: unknown): Uint8Array => writeValue(new BinaryWriter(), value).finish()

const wellFormed = (text: string): string => Buffer.from(text).toString()

/** JSON text has no -0, and a string may have half a character in it, which no message can. */
const plain = jsonValue({ noUnicodeString: false, maxDepth: 8 }).map(
  (value) => JSON.parse(wellFormed(JSON.stringify(value))) as JsonValue,
)

describe('JSON in google.protobuf.Value', () => {
  it('is read and written as the protobuf library does it', () => {
    assert(
      property(plain, (value) => {
        const theirs = toBinary(ValueSchema, fromJson(ValueSchema, value))
        expect(readValue(new WireReader(theirs))).toEqual(value)
        expect(toJson(ValueSchema, fromBinary(ValueSchema, bytesOf(value)))).toEqual(value)
        const list = toBinary(ListValueSchema, fromJson(ListValueSchema, [value, value]))
        expect(readList(new WireReader(list))).toEqual([value, value])
        const struct = toBinary(StructSchema, fromJson(StructSchema, { a: value }))
        expect(readStruct(new WireReader(struct))).toEqual({ a: value })
      }),
    )
  })

  it('bytes that are no message are an error or JSON, never anything else', () => {
    assert(
      property(plain, (value) => {
        const bytes = bytesOf(value)
        const failures = Array.from({ length: bytes.length }, (_unused, cut) => {
          try {
            return (
              JSON.stringify(readValue(new WireReader(bytes.subarray(0, cut)))) && 'MalformedMessageError'
            )
          } catch (error) {
            return (error as Error).name
          }
        })
        expect(failures.filter((name) => name !== 'MalformedMessageError')).toEqual([])
      }),
      { numRuns: 30 },
    )
  })

  it('has null for what JSON has no word for, in its place', () => {
    const number = (value: number) => create(ValueSchema, { kind: { case: 'numberValue', value } })
    const values = [1, Number.NaN, Infinity, -Infinity].map(number)
    const list = toBinary(
      ListValueSchema,
      create(ListValueSchema, { values: [...values, create(ValueSchema)] }),
    )
    expect(readList(new WireReader(list))).toEqual([1, null, null, null, null])
  })

  it('keeps keys that mean something to JavaScript', () => {
    const value = JSON.parse('{"__proto__":{"a":1},"constructor":2}')
    expect(JSON.stringify(readValue(new WireReader(bytesOf(value))))).toBe(
      '{"__proto__":{"a":1},"constructor":2}',
    )
  })

  it.each([33, 50, 100, 499])('may have %s levels, each way, with and without plans', async (levels) => {
    const value = Array.from({ length: levels }).reduce<unknown>((inner) => [inner], 1)
    const proto = `syntax = "proto3"; package v; import "google/protobuf/struct.proto";
      service S { rpc GetV(V) returns (V); } message V { google.protobuf.Value v = 1; }`
    for (const plans of [true, false]) {
      const echo = await source({
        protoText: { 'v.proto': proto },
        expose: 'all',
        endpoint: 'localhost:1',
        plans,
        transport: () => ({
          unary: (_, request) => Promise.resolve(request),
          stream: () => expect.unreachable('nothing streams'),
          close() {},
        }),
      })
      const query = 'query ($v: JSON) { getV(v: $v) { v } }'
      expect(await run(yogaWith(echo), query, { variables: { v: value } })).toEqual({
        data: { getV: { v: value } },
      })
      const deeper = Array.from({ length: 501 - levels }).reduce<unknown>((inner) => [inner], value)
      const refused = await run(yogaWith(echo), query, { variables: { v: deeper } })
      expect(refused.errors[0].extensions.code).toBe('BAD_USER_INPUT')
    }
  })
})

it('aliases of enum values are names in requests; replies have the first', async () => {
  const proto = `syntax = "proto3"; package e; service S { rpc GetA(A) returns (A); }
    enum E { option allow_alias = true; ZERO = 0; NONE = 0; ONE = 1; UNO = 1 [deprecated = true]; }
    message A { E e = 1; repeated E es = 2; }`
  const sent: string[] = []
  const echo = await source({
    protoText: { 'e.proto': proto },
    expose: 'all',
    endpoint: 'localhost:1',
    transport: () => ({
      async unary(_, request) {
        sent.push(Buffer.from(request).toString('hex'))
        return request
      },
      stream: () => expect.unreachable('nothing streams'),
      close() {},
    }),
  })
  const query = '{ getA(e: UNO, es: [NONE, ONE, UNO]) { e es } }'
  expect(await run(yogaWith(echo), query)).toEqual({
    data: { getA: { e: 'ONE', es: ['ZERO', 'ONE', 'ONE'] } },
  })
  expect(sent).toEqual(['08011203000101'])
  const names = '{ __type(name: "E") { enumValues(includeDeprecated: true) { name isDeprecated } } }'
  expect((await run(yogaWith(echo), names)).data.__type.enumValues).toEqual([
    { name: 'ZERO', isDeprecated: false },
    { name: 'NONE', isDeprecated: false },
    { name: 'ONE', isDeprecated: false },
    { name: 'UNO', isDeprecated: true },
  ])
})
