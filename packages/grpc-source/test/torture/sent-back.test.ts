import { readFileSync } from 'node:fs'
import {
  create,
  createFileRegistry,
  fromBinary,
  fromJson,
  toBinary,
  type DescMessage,
  type MessageShape,
  type Registry,
} from '@bufbuild/protobuf'
import {
  AnySchema,
  DurationSchema,
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
import { messages } from './random-messages.ts'

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 100)
const ECHO = 'torture.v1.TortureService.Echo'
let descriptorSet: Uint8Array
let registry: Registry
let torture: DescMessage

beforeAll(() => {
  descriptorSet = readFileSync(buildDescriptorSet())
  registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet))
  torture = registry.getMessage('torture.v1.Torture') as DescMessage
}, 240_000)

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
        if (any && any.typeUrl !== '') message.any = withPrefix(any)
        const read = await one.grpc.call(ECHO, {} as never)
        await one.grpc.call(ECHO, read as never)
        const sent = fromBinary(torture, one.requests.at(-1) as Uint8Array)
        expect(Buffer.from(toBinary(torture, sent)).toString('hex')).toBe(
          Buffer.from(toBinary(torture, message)).toString('hex'),
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
    [
      'of a type without a prefix that the protos do not define',
      { typeUrl: 'a.b.Nowhere', value: Uint8Array.of(8, 1) },
    ],
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
    const expected = toBinary(torture, Object.assign(create(torture), { any: withPrefix(any) }))
    expect(Buffer.from(one.requests[1] ?? []).toString('hex')).toBe(Buffer.from(expected).toString('hex'))
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

/** C++ and Java cannot unpack a type URL without a slash. */
function withPrefix(any: Any): Any {
  const { typeUrl } = any
  return typeUrl === '' || typeUrl.includes('/') ? any : { ...any, typeUrl: `type.googleapis.com/${typeUrl}` }
}

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
