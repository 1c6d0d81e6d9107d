import { validateSchema } from 'graphql'
import { expect, it } from 'vitest'
import { startBytesServer } from '../bytes-server.ts'
import { disposables, run, source, yogaWith } from '../harness.ts'

const SERVICE = 'message Answered { int32 n = 1; } service S { rpc Get(A) returns (Answered); }'
const PROTO3 = 'syntax = "proto3"; package p;'
const ANSWERED2 = 'message Answered { optional int32 n = 1; } service S { rpc Get(A) returns (Answered); }'

/** What goes over the wire, as hexadecimal digits. */
async function sentBy(text: string, query: string): Promise<string | undefined> {
  const server = disposables().use(await startBytesServer('/p.S/Get', () => new Uint8Array()))
  const grpc = await source({ endpoint: server.address, protoText: { 'p.proto': text }, expose: 'all' })
  expect(validateSchema(grpc.schema)).toEqual([])
  expect(await run(yogaWith(grpc), query)).toEqual({ data: { get: expect.anything() } })
  return Buffer.from(server.requests[0]!).toString('hex')
}

it.each([
  [
    'itself',
    `syntax = "proto2"; package p; message A { required A a = 1; optional int32 n = 2; } ${ANSWERED2}`,
    '0a021001',
  ],
  [
    'another that requires it',
    `syntax = "proto2"; package p; message A { required B a = 1; optional int32 n = 2; }
     message B { optional int32 n = 2; required A back = 3; } ${ANSWERED2}`,
    '0a021001',
  ],
  [
    'itself, by google.api.field_behavior',
    `${PROTO3} import "google/api/field_behavior.proto";
     message A { A a = 1 [(google.api.field_behavior) = REQUIRED]; int32 n = 2; } ${SERVICE}`,
    '0a021001',
  ],
])('a message that requires %s is an input that GraphQL allows', async (_what, text, hex) => {
  expect(await sentBy(text, '{ get(a: { n: 1 }) { n } }')).toBe(hex)
})

it.each([
  ['a field', 'oneof foo_bar { int32 a = 1; } int32 fooBar = 2;', 'fooBarOneof: { a: 7 }, fooBar: 0', '0807'],
  [
    'a field that is a message',
    'oneof foo_bar { int32 a = 1; B b = 3; } B fooBar = 2;',
    'fooBarOneof: { a: 7 }, fooBar: { a: 1 }',
    '080712020801',
  ],
  [
    'another oneof',
    'oneof foo_bar { int32 a = 1; } oneof fooBar { int32 b = 2; }',
    'fooBar: { a: 7 }, fooBarOneof: { b: 0 }',
    '08071000',
  ],
])('a oneof that has the GraphQL name of %s gives way', async (_what, fields, args, hex) => {
  const text = `${PROTO3} message A { ${fields} } message B { int32 a = 1; } ${SERVICE}`
  expect(await sentBy(text, `{ get(${args}) { n } }`)).toBe(hex)
})

it('features for other languages need no files of theirs', async () => {
  const warnings: unknown[] = []
  const imports = ['go', 'cpp', 'java'].map((name) => `import "google/protobuf/${name}_features.proto";`)
  const text = `edition = "2023"; package p; ${imports.join(' ')}
    option features.(pb.go).api_level = API_OPAQUE;
    option features.(pb.java).utf8_validation = VERIFY;
    message A { string a = 1 [features.(pb.cpp).string_type = VIEW]; } ${SERVICE}`
  const logger = { warn: (line: unknown) => void warnings.push(line), error() {} }
  await source({ endpoint: 'localhost:1', protoText: { 'p.proto': text }, expose: 'all', logger })
  expect(warnings).toEqual([])
})
