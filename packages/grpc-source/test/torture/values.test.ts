import { readFileSync } from 'node:fs'
import {
  create,
  createFileRegistry,
  fromBinary,
  fromJson,
  toBinary,
  toJson,
  type DescMessage,
  type JsonValue,
} from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { startGrpcBackend, type GrpcBackend } from '@vinyasa/test-kit'
import { disposables, run, source, yogaWith, type Yoga } from '../harness.ts'
import { startBytesServer } from '../bytes-server.ts'
import { buildDescriptorSet } from './generate.ts'

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 100)
let descriptorSet: Uint8Array
let torture: DescMessage
let registry: ReturnType<typeof createFileRegistry>

beforeAll(() => {
  descriptorSet = readFileSync(buildDescriptorSet())
  registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet))
  torture = registry.getMessage('torture.v1.Torture') as DescMessage
}, 240_000)

/** A server that answers with what it was sent, so that protobuf-es is on the other side of both codecs. */
async function echoServer(
  reply: (request: Uint8Array) => Uint8Array = (bytes) => bytes,
): Promise<{ yoga: Yoga; requests: Uint8Array[]; call: (request: object) => Promise<any> }> {
  const server = disposables().use(await startBytesServer('/torture.v1.TortureService/Echo', reply))
  const grpc = await source({ descriptorSet, endpoint: server.address })
  return {
    yoga: yogaWith(grpc),
    requests: server.requests,
    call: (request) => grpc.call('torture.v1.TortureService.Echo', request as never),
  }
}

const EXTREMES: Readonly<Record<string, JsonValue>> = {
  doubleValue: 1.7976931348623157e308,
  floatValue: 3.4028234663852886e38,
  int32Value: -2147483648,
  int64Value: '-9223372036854775808',
  uint32Value: 4294967295,
  uint64Value: '18446744073709551615',
  sint32Value: -2147483648,
  sint64Value: '-9223372036854775808',
  fixed32Value: 4294967295,
  fixed64Value: '18446744073709551615',
  sfixed32Value: -2147483648,
  sfixed64Value: '9223372036854775807',
  boolValue: true,
  stringValue: 'ü\u0000😀',
  bytesValue: 'AP+A',
  color: 'COLOR_GREEN',
  optInt32: 0,
  optString: '',
  optColor: 'COLOR_UNSPECIFIED',
  optBool: false,
  doubles: [-0.5, 5e-324],
  longs: ['9007199254740993', '-1'],
  strings: ['', 'x'],
  blobs: ['', 'AA=='],
  colors: ['COLOR_RED', 'COLOR_UNSPECIFIED'],
  unpacked: [-1, 0, 1],
  bools: [true, false],
  choiceLong: '9007199254740993',
  timestamp: '9999-12-31T23:59:59.999999999Z',
  duration: '-315576000000s',
  mask: 'stringValue,nested.text',
  structValue: { a: [1, null, { b: true }], 'c d': '' },
  jsonValue: [true],
  listValue: [1, 'x', null],
  doubleWrapper: 0,
  int64Wrapper: '9223372036854775807',
  uint64Wrapper: '0',
  stringWrapper: '',
  boolWrapper: false,
  bytesWrapper: 'AAE=',
  timestamps: ['0001-01-01T00:00:00Z', '1969-12-31T23:59:59.500Z'],
  nested: { text: '', deeper: { number: '9007199254740993' } },
  constructor: 'c',
  toString: 's',
  hasOwnProperty: 'h',
  prototype: 'p',
  // oxlint-disable-next-line unicorn/no-thenable -- the proto has a field of that name
  then: 't',
}

describe('values', () => {
  it('come from protobuf-es exactly', async () => {
    const bytes = toBinary(
      torture,
      fromJson(torture, { ...EXTREMES, recursive: { recursive: { stringValue: 'deep' } } }, { registry }),
    )
    const { call } = await echoServer(() => bytes)
    const result = await call({})
    expect(result).toMatchObject({ ...EXTREMES, recursive: { recursive: { stringValue: 'deep' } } })
    expect(result).toMatchObject({
      choiceText: null,
      choiceNested: null,
      choiceColor: null,
      empty: null,
      int32Wrapper: null,
    })
    expect(result.recursive).toMatchObject({
      stringValue: '',
      int64Value: '0',
      boolValue: false,
      strings: [],
      optInt32: null,
      timestamp: null,
      color: 'COLOR_UNSPECIFIED',
      nested: null,
    })
  })

  it('go to protobuf-es exactly', async () => {
    const { call, requests } = await echoServer()
    await call({ ...EXTREMES, choiceLong: undefined, choice: { choiceLong: '9007199254740993' } })
    const expected = fromJson(torture, EXTREMES, { registry })
    expect(toJson(torture, fromBinary(torture, requests[0] as Uint8Array), { registry })).toEqual(
      toJson(torture, expected, { registry }),
    )
  })

  it('survive the way through GraphQL and a backend on protobufjs', async () => {
    const protos = Object.fromEntries(
      ['torture/v1/torture.proto', 'other/v1/other.proto'].map((name) => [
        name,
        readFileSync(new URL(`proto/${name}`, import.meta.url), 'utf8'),
      ]),
    )
    const graphqlProto = readFileSync(new URL('../../proto/graphql.proto', import.meta.url), 'utf8')
    const backend: GrpcBackend = disposables().use(
      await startGrpcBackend({
        protos: { ...protos, 'graphql.proto': graphqlProto },
        handlers: { 'torture.v1.TortureService/Echo': (request) => request },
        loader: { defaults: false, arrays: false, objects: false },
      }),
    )
    const yoga = yogaWith(await source({ descriptorSet, endpoint: backend.address }))
    const { choiceLong, ...input } = EXTREMES
    const { data, errors } = await run(
      yoga,
      `query ($input: TortureInput) { echo(input: $input) {
        ${Object.keys(input)
          .filter((name) => name !== 'nested')
          .join(' ')} nested { text deeper { number } } choiceLong choiceText yes
        stringMap { key value } boolMap { key value } int32Map { key value { text } } sint32Map { key value }
        legacy { must may packedNumbers plainNumbers kind grp: inner { text } }
      } }`,
      {
        variables: {
          input: {
            ...input,
            choice: { choiceLong },
            stringMap: [
              { key: '__proto__', value: 'x' },
              { key: '', value: '' },
            ],
            boolMap: [{ key: true, value: 'COLOR_RED' }],
            int32Map: [{ key: -1, value: { text: 'n' } }],
            sint32Map: [{ key: -5, value: '2020-01-01T00:00:00Z' }],
            legacy: { must: 'm', packedNumbers: [1, 2], plainNumbers: [3], inner: { text: 'group' } },
          },
        },
      },
    )
    expect(errors).toBeUndefined()
    expect(data.echo).toEqual({
      ...input,
      choiceLong,
      choiceText: null,
      yes: null,
      stringMap: [
        { key: '__proto__', value: 'x' },
        { key: '', value: '' },
      ],
      boolMap: [{ key: true, value: 'COLOR_RED' }],
      int32Map: [{ key: -1, value: { text: 'n' } }],
      sint32Map: [{ key: -5, value: '2020-01-01T00:00:00Z' }],
      legacy: {
        must: 'm',
        may: null,
        packedNumbers: [1, 2],
        plainNumbers: [3],
        kind: null,
        grp: { text: 'group' },
      },
    })
  })

  it(`property: what protobuf-es wrote is read and written back unchanged (${RUNS} messages)`, async () => {
    const { call, requests } = await echoServer()
    const scalars = fc.record(
      {
        doubleValue: fc.double({ noNaN: true, noDefaultInfinity: true }),
        floatValue: fc.float({ noNaN: true, noDefaultInfinity: true }),
        int32Value: fc.integer(),
        int64Value: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
        uint32Value: fc.nat(4294967295),
        uint64Value: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
        sint32Value: fc.integer(),
        sint64Value: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
        fixed64Value: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
        sfixed32Value: fc.integer(),
        boolValue: fc.boolean(),
        stringValue: fc.string({ unit: 'grapheme' }),
        bytesValue: fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64')),
        color: fc.constantFrom('COLOR_UNSPECIFIED', 'COLOR_RED', 'COLOR_GREEN'),
        optInt32: fc.integer(),
        optString: fc.string(),
        longs: fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)),
        strings: fc.array(fc.string({ unit: 'grapheme' })),
        colors: fc.array(fc.constantFrom('COLOR_RED', 'COLOR_GREEN')),
        unpacked: fc.array(fc.integer()),
        bools: fc.array(fc.boolean()),
        stringMap: fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }),
        int64Map: fc.dictionary(
          fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
          fc.nat(1000).map(String),
          { noNullPrototype: true },
        ),
        timestamp: fc
          .date({
            min: new Date('0001-01-01T00:00:00Z'),
            max: new Date('9999-12-31T23:59:59Z'),
            noInvalidDate: true,
          })
          .map((date) => date.toISOString()),
        duration: fc
          .tuple(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.nat(999))
          .map(([seconds, millis]) => `${seconds}.${String(millis).padStart(3, '0')}s`),
        structValue: fc.dictionary(
          fc.string(),
          fc.oneof(fc.string(), fc.boolean(), fc.integer(), fc.constant(null)),
          { noNullPrototype: true },
        ),
        int64Wrapper: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
        nested: fc.record({ text: fc.string() }),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(scalars, fc.option(scalars, { nil: undefined }), async (outer, inner) => {
        const message = fromJson(torture, (inner ? { ...outer, recursive: inner } : outer) as JsonValue, {
          registry,
        })
        const read = await call({ recursive: undefined, ...(await decoded(toBinary(torture, message))) })
        expect(toJson(torture, fromBinary(torture, requests.at(-1) as Uint8Array), { registry })).toEqual(
          toJson(torture, message, { registry }),
        )
        expect(read).toBeDefined()
      }),
      { numRuns: RUNS },
    )

    async function decoded(bytes: Uint8Array): Promise<object> {
      const answering = await reader
      answering.bytes = bytes
      return answering.call({})
    }
  })

  let reader: Promise<{ bytes: Uint8Array; call: (request: object) => Promise<any> }>
  beforeAll(() => {
    reader = (async () => {
      const holder = { bytes: new Uint8Array(), call: async (_request: object): Promise<any> => undefined }
      const server = await startBytesServer('/torture.v1.TortureService/Echo', () => holder.bytes)
      const { createGrpcSource } = await import('../../src/index.ts')
      const grpc = await createGrpcSource({ name: 'reader', descriptorSet, endpoint: server.address })
      holder.call = (request) => grpc.call('torture.v1.TortureService.Echo', request as never)
      return holder
    })()
  })

  it('reads enum numbers that have no name as null, in lists too, and warns once', async () => {
    const warnings: string[] = []
    const bytes = Uint8Array.from([0x80, 0x01, 0x63, 0x92, 0x02, 0x03, 0x01, 0x63, 0x02])
    const server = disposables().use(await startBytesServer('/torture.v1.TortureService/Echo', () => bytes))
    const grpc = await source({
      descriptorSet,
      endpoint: server.address,
      logger: { warn: (message) => warnings.push(message), error() {} },
    })
    expect(await run(yogaWith(grpc), '{ echo { color colors } }')).toEqual({
      data: { echo: { color: null, colors: ['COLOR_RED', null, 'COLOR_GREEN'] } },
    })
    expect(warnings).toEqual([expect.stringContaining('99, which is not a value of torture.v1.Color')])
  })

  it.each([
    ['a truncated message', [0x72, 0x05, 0x61]],
    ['a group that ends without beginning', [0x0c]],
    [
      'a group that comes twice and ends as another',
      [0x82, 0x05, 0x07, 0x0a, 0x01, 0x6d, 0x2b, 0x2c, 0x2b, 0x34],
    ],
    ['a varint without end', [0x18, ...Array.from({ length: 11 }, () => 0xff)]],
    ['messages nested 200 deep', nest(200)],
  ])('answers INTERNAL_SERVER_ERROR to %s', async (_what, bytes) => {
    const { yoga } = await echoServer(() => Uint8Array.from(bytes))
    const { errors } = await run(yoga, '{ echo { stringValue } }')
    expect(errors[0]).toMatchObject({
      message: 'Internal server error',
      extensions: { code: 'INTERNAL_SERVER_ERROR' },
    })
  })

  it('skips unknown fields and takes the last of a oneof', async () => {
    const known = toBinary(torture, create(torture, {}))
    const bytes = Uint8Array.from([
      ...known,
      0x92,
      0x03,
      0x01,
      0x61,
      0x98,
      0x03,
      0x05,
      0xfa,
      0x7f,
      0x02,
      0x01,
      0x02,
    ])
    const { call } = await echoServer(() => bytes)
    expect(await call({})).toMatchObject({ choiceText: null, choiceLong: '5' })
  })

  it.each([
    [
      'int64Value',
      '9223372036854775808',
      '"int64Value" must be an integer from -9223372036854775808 to 9223372036854775807',
    ],
    ['int64Value', 'abc', 'got "abc"'],
    ['uint64Value', '-1', '"uint64Value" must be an integer from 0 to'],
    ['timestamp', '2026-02-30T00:00:00Z', 'a date-time such as'],
    ['duration', '5 minutes', 'a duration in seconds'],
    ['bytesValue', 'no base64!', 'base64'],
    ['mask', 'a b', 'field paths such as'],
    ['mask', 'a,'.repeat(8_193), 'field paths such as'],
    ['stringValue', '\ud800', 'without lone surrogates'],
    ['any', { '@type': 'nowhere.Message' }, 'an object with "@type"'],
  ])('refuses %s: %j with BAD_USER_INPUT', async (name, value, message) => {
    const { call, requests } = await echoServer()
    await expect(call({ [name]: value })).rejects.toMatchObject({
      message: expect.stringContaining(message),
      extensions: { code: 'BAD_USER_INPUT' },
    })
    expect(requests).toHaveLength(0)
  })

  it('lets only one member of a oneof be set', async () => {
    const { yoga, call } = await echoServer()
    const { errors } = await run(
      yoga,
      '{ echo(input: { choice: { choiceText: "a", choiceLong: "1" } }) { choiceText } }',
    )
    expect(errors[0].message).toContain('OneOf')
    await expect(call({ choiceText: 'a', choiceLong: '1' })).rejects.toThrow(
      'only one of choiceText and choiceLong',
    )
  })
})

function nest(depth: number): number[] {
  let bytes: number[] = []
  for (let level = 0; level < depth; level++) {
    const length = bytes.length < 128 ? [bytes.length] : [(bytes.length & 0x7f) | 0x80, bytes.length >> 7]
    bytes = [0x92, 0x01, ...length, ...bytes]
  }
  return bytes
}
