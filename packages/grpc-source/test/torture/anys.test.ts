import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { AnySchema } from '@bufbuild/protobuf/wkt'
import { expect, it } from 'vitest'
import { startBytesServer, type BytesServer } from '../bytes-server.ts'
import { disposables, run, source, yogaWith, type Yoga } from '../harness.ts'

const PROTO = `
syntax = "proto3";
package a;
import "graphql.proto";
import "google/protobuf/any.proto";
import "google/protobuf/timestamp.proto";
message Box { google.protobuf.Any any = 1; string id = 2; }
message Count { int32 value = 1; }
message Named { int32 number = 1 [json_name = "value"]; }
message Note { google.protobuf.Timestamp at = 1; }
message Timed { string value = 1; google.protobuf.Timestamp at = 2; }
service S { rpc Echo(Box) returns (Box) { option (graphql.schema) = { name: "echo" request: { name: "input" } }; } }
`
const MILLISECONDS = 1_764_100_000_000n

async function echo(
  any: MessageInitShape<typeof AnySchema>,
  options: { readonly plans?: boolean } = {},
): Promise<{ readonly server: BytesServer; readonly yoga: Yoga }> {
  const bytes = toBinary(AnySchema, create(AnySchema, any))
  const reply = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(bytes)
  const server = disposables().use(
    await startBytesServer('/a.S/Echo', () => reply.tag(2, WireType.LengthDelimited).string('x').finish()),
  )
  const grpc = await source({ protoText: { 'a.proto': PROTO }, endpoint: server.address, ...options })
  return { server, yoga: yogaWith(grpc) }
}

const SEND = 'query ($any: JSON) { echo(input: { any: $any }) { id } }'

// "four" is base64 too, of three bytes.
it.each([
  ['that its field `value` cannot be', { '@type': 'x/a.Count', value: 'four' }],
  ['that a field with that JSON name cannot be', { '@type': 'x/a.Named', value: 'four' }],
  ['that a time cannot be', { '@type': 'x/google.protobuf.Timestamp', value: 'four' }],
  ['whose bytes are none of the message', { '@type': 'x/a.Note', value: 'four' }],
])('an Any of a known message with a value %s is a wrong argument, and not sent', async (_what, any) => {
  const { server, yoga } = await echo({})
  const { errors } = await run(yoga, SEND, { variables: { any } })
  expect(errors).toMatchObject([
    { message: expect.stringContaining('got an object'), extensions: { code: 'BAD_USER_INPUT' } },
  ])
  expect(server.requests).toHaveLength(0)
})

const TIME = new BinaryWriter().tag(1, WireType.Varint).int64(MILLISECONDS).finish()
const timeAt = (field: number): Uint8Array =>
  new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(TIME).finish()

it.each([true, false])('its bytes are its value where its JSON says nothing, plans %s', async (plans) => {
  const { server, yoga } = await echo({ typeUrl: 'x/a.Note', value: timeAt(1) }, { plans })
  const { data, errors } = await run(yoga, '{ echo { any id } }')
  expect(errors).toBeUndefined()
  expect(data.echo.any).toEqual({ '@type': 'x/a.Note', value: Buffer.from(timeAt(1)).toString('base64') })
  await run(yoga, SEND, { variables: { any: data.echo.any } })
  expect(Buffer.from(server.requests[1] ?? []).toString('hex')).toContain(
    Buffer.from(timeAt(1)).toString('hex'),
  )
})

it.each([
  ['a time out of range beside a field `value`', { typeUrl: 'x/a.Timed', value: timeAt(2) }],
  ['a time out of range itself', { typeUrl: 'x/google.protobuf.Timestamp', value: TIME }],
  ['bytes that are none of its type', { typeUrl: 'x/a.Note', value: Uint8Array.of(0x0a, 9, 1) }],
])('an Any with %s is an error at its place', async (_what, any) => {
  for (const plans of [true, false]) {
    const { yoga } = await echo(any, { plans })
    const { data, errors } = await run(yoga, '{ echo { any id } }')
    expect(data).toEqual({ echo: { any: null, id: 'x' } })
    expect(errors).toMatchObject([
      {
        message: expect.stringContaining(`The backend sent a google.protobuf.Any of type ${any.typeUrl}`),
        path: ['echo', 'any'],
      },
    ])
  }
})
