import { readFileSync } from 'node:fs'
import {
  create,
  createFileRegistry,
  fromBinary,
  fromJson,
  ScalarType,
  toBinary,
  type DescField,
  type DescMessage,
  type JsonValue,
  type MessageShape,
  type Registry,
} from '@bufbuild/protobuf'
import {
  AnySchema,
  DurationSchema,
  FeatureSet_FieldPresence,
  FileDescriptorSetSchema,
  TimestampSchema,
  type Any,
} from '@bufbuild/protobuf/wkt'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { GrpcSource } from '../../src/index.ts'
import { startBytesServer } from '../bytes-server.ts'
import { disposables, run, source, yogaWith } from '../harness.ts'
import { buildDescriptorSet } from './generate.ts'

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 100)
const ECHO = 'torture.v1.TortureService.Echo'
let descriptorSet: Uint8Array
let registry: Registry
let torture: DescMessage

beforeAll(() => {
  descriptorSet = readFileSync(buildDescriptorSet())
  registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet))
  torture = registry.getMessage('torture.v1.Torture') as DescMessage
}, 60_000)

interface Peer {
  grpc: GrpcSource
  requests: Uint8Array[]
  reply: Uint8Array
}

async function peer(): Promise<Peer> {
  const server = disposables().use(
    await startBytesServer('/torture.v1.TortureService/Echo', (): Uint8Array => self.reply),
  )
  const grpc = await source({ descriptorSet, endpoint: server.address })
  const self: Peer = { grpc, requests: server.requests, reply: new Uint8Array() }
  return self
}

describe('a message that was read can be sent back', () => {
  it('whatever it holds', async () => {
    const one = await peer()
    await fc.assert(
      fc.asyncProperty(messages(torture, 2), fc.option(anys(), { nil: undefined }), async (json, any) => {
        const message = fromJson(torture, json, { registry }) as MessageShape<typeof torture> & { any?: Any }
        if (any) message.any = any
        one.reply = toBinary(torture, message)
        const read = await one.grpc.call(ECHO, {} as never)
        await one.grpc.call(ECHO, read as never)
        const sent = fromBinary(torture, one.requests.at(-1) as Uint8Array)
        expect(Buffer.from(toBinary(torture, sent)).toString('hex')).toBe(
          Buffer.from(one.reply).toString('hex'),
        )
      }),
      { numRuns: RUNS },
    )
  })

  it.each([
    [
      'of a type that the protos do not define',
      { typeUrl: 'example.org/a.b.Nowhere', value: Uint8Array.of(8, 1) },
    ],
    ['of a type they define, under another prefix', { typeUrl: 'example.org/torture.v1.TortureList' }],
    ['of a type without a prefix', { typeUrl: 'torture.v1.TortureList' }],
    ['without a type', { value: Uint8Array.of(1, 2) }],
    ['without anything', {}],
  ])('an Any %s, over GraphQL', async (_what, init) => {
    const one = await peer()
    const yoga = yogaWith(one.grpc)
    const any = create(AnySchema, init)
    one.reply = toBinary(torture, Object.assign(create(torture), { any }))
    const { data } = await run(yoga, '{ echo { any } }')
    await run(yoga, 'query ($any: JSON) { echo(input: { any: $any }) { any } }', {
      variables: { any: data.echo.any },
    })
    expect(one.requests).toHaveLength(2)
    expect(Buffer.from(one.requests[1] ?? []).toString('hex')).toBe(Buffer.from(one.reply).toString('hex'))
  })

  it('true for a message without fields sets it, and false leaves it out', async () => {
    const one = await peer()
    const { errors } = await run(
      yogaWith(one.grpc),
      '{ set: echo(input: { empty: true }) { then } unset: echo(input: { empty: false }) { then } }',
    )
    expect(errors).toBeUndefined()
    const sent = one.requests.map((bytes) => 'empty' in fromBinary(torture, bytes))
    expect(sent.toSorted()).toEqual([false, true])
  })
})

describe('times that are none', () => {
  it.each([true, false])('are errors at their places that say what was sent, plans %s', async (plans) => {
    const timestamp = create(TimestampSchema, { seconds: 1_764_100_000_000n })
    const duration = create(DurationSchema, { seconds: 10n ** 12n })
    const fields = { timestamp, timestamps: [create(TimestampSchema), timestamp], duration, stringValue: 'x' }
    const server = disposables().use(
      await startBytesServer('/torture.v1.TortureService/Echo', () =>
        toBinary(torture, Object.assign(create(torture), fields)),
      ),
    )
    const grpc = await source({ descriptorSet, endpoint: server.address, plans })
    const { data, errors } = await run(
      yogaWith(grpc),
      '{ echo { stringValue timestamp timestamps duration } }',
    )
    expect(data.echo).toEqual({
      stringValue: 'x',
      timestamp: null,
      timestamps: ['1970-01-01T00:00:00Z', null],
      duration: null,
    })
    expect(errors.map(({ path }: { path: string[] }) => path.join('.')).toSorted()).toEqual([
      'echo.duration',
      'echo.timestamp',
      'echo.timestamps.1',
    ])
    for (const { path, message } of errors)
      expect(message).toContain(path[1] === 'duration' ? '1000000000000 seconds' : '1764100000000 seconds')
  })
})

function anys(): fc.Arbitrary<Any> {
  const urls = fc.constantFrom('type.googleapis.com/', 'example.org/x/', '')
  const unknown = fc.tuple(fc.constantFrom('a.B', 'torture.v1.Nowhere'), fc.uint8Array({ maxLength: 9 }))
  const known = fc
    .tuple(messages(torture, 1), fc.option(unknown, { nil: undefined }))
    .map(([json, inner]): [string, Uint8Array] => {
      const message = fromJson(torture, json, { registry }) as MessageShape<typeof torture> & { any?: Any }
      if (inner) message.any = create(AnySchema, { typeUrl: `a/${inner[0]}`, value: inner[1] })
      return ['torture.v1.Torture', toBinary(torture, message)]
    })
  return fc
    .tuple(urls, fc.oneof(unknown, known))
    .map(([url, [name, value]]) => create(AnySchema, { typeUrl: `${url}${name}`, value }))
}

/** The JSON of any message of a type: what clients cannot be shown, such as NaN and unknown enum numbers, is not drawn. */
function messages(desc: DescMessage, depth: number): fc.Arbitrary<Record<string, JsonValue>> {
  const drawn = desc.fields.filter((field) => {
    const isOmitted = field.name === 'hidden' || field.message?.typeName === 'google.protobuf.Any'
    return (
      !isOmitted && (depth > 0 || field.message === undefined || field.message.typeName.startsWith('google.'))
    )
  })
  const model = Object.fromEntries(drawn.map((field) => [field.jsonName, fieldValues(field, depth)]))
  const requiredKeys = drawn
    .filter(({ presence }) => presence === FeatureSet_FieldPresence.LEGACY_REQUIRED)
    .map(({ jsonName }) => jsonName)
  return fc.record(model, { requiredKeys }).map((json) => {
    for (const oneof of desc.oneofs) {
      const set = oneof.fields.filter(({ jsonName }) => Object.hasOwn(json, jsonName))
      for (const { jsonName } of set.slice(1)) delete json[jsonName]
    }
    return json as Record<string, JsonValue>
  })
}

function fieldValues(field: DescField, depth: number): fc.Arbitrary<JsonValue> {
  switch (field.fieldKind) {
    case 'list':
      return fc.array(values(field, depth), { maxLength: 2 })
    case 'map':
      return fc.dictionary(scalars(field.mapKey).map(String), values(field, depth), {
        maxKeys: 2,
        noNullPrototype: true,
      })
    default:
      return values(field, depth)
  }
}

function values({ message, enum: type, scalar }: DescField, depth: number): fc.Arbitrary<JsonValue> {
  if (type) return fc.constantFrom(...type.values.map(({ name }) => name))
  if (message) return wellKnown(message.typeName) ?? messages(message, depth - 1)
  return scalars(scalar as ScalarType)
}

function scalars(type: ScalarType): fc.Arbitrary<string | number | boolean> {
  const long = (min: bigint, max: bigint) => fc.bigInt({ min, max }).map(String)
  switch (type) {
    case ScalarType.BOOL:
      return fc.boolean()
    case ScalarType.STRING:
      return fc.string({ unit: 'grapheme' })
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('base64'))
    case ScalarType.FLOAT:
      return fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)
    case ScalarType.DOUBLE:
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return fc.nat(2 ** 32 - 1)
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return long(0n, 2n ** 64n - 1n)
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return long(-(2n ** 63n), 2n ** 63n - 1n)
    default:
      return fc.integer()
  }
}

function wellKnown(typeName: string): fc.Arbitrary<JsonValue> | undefined {
  const json = fc
    .jsonValue({ maxDepth: 2, noUnicodeString: false })
    .map((value) => JSON.parse(JSON.stringify(value)) as JsonValue)
  switch (typeName.replace('google.protobuf.', '')) {
    case 'Timestamp':
      return fc
        .date({
          min: new Date('0001-01-01T00:00:00Z'),
          max: new Date('9999-12-31T23:59:59Z'),
          noInvalidDate: true,
        })
        .map((date) => date.toISOString())
    case 'Duration':
      return fc.integer({ min: -(10 ** 9), max: 10 ** 9 }).map((seconds) => `${seconds}.5s`)
    case 'FieldMask':
      return fc.array(fc.constantFrom('a', 'bC', 'dEf.g'), { maxLength: 2 }).map((paths) => paths.join(','))
    case 'Struct':
      return fc.dictionary(fc.string(), json, { noNullPrototype: true, maxKeys: 2 })
    case 'Value':
      return json.filter((value) => value !== null)
    case 'ListValue':
      return fc.array(json, { maxLength: 2 })
    case 'Int64Value':
      return scalars(ScalarType.INT64)
    case 'UInt64Value':
      return scalars(ScalarType.UINT64)
    case 'Int32Value':
      return scalars(ScalarType.INT32)
    case 'UInt32Value':
      return scalars(ScalarType.UINT32)
    case 'DoubleValue':
      return scalars(ScalarType.DOUBLE)
    case 'FloatValue':
      return scalars(ScalarType.FLOAT)
    case 'BoolValue':
      return fc.boolean()
    case 'StringValue':
      return scalars(ScalarType.STRING)
    case 'BytesValue':
      return scalars(ScalarType.BYTES)
    default:
      return undefined
  }
}
