import { expect, it } from 'vitest'
import { startBytesServer } from '../bytes-server.ts'
import { disposables, source } from '../harness.ts'

const body = (required: string): string => `
  enum Kind { ZERO = 0; ONE = 1; }
  message Inner { ${required} int32 n = 1; }
  message Asked {
    ${required} int32 i = 1; ${required} string s = 2; ${required} bool b = 3; ${required} double d = 4;
    ${required} bytes raw = 5; ${required} Kind kind = 6; ${required} Inner inner = 7;
    repeated Inner many = 8; map<string, Inner> by = 9; oneof one { Inner first = 10; int32 second = 11; }
  }
  message Answered { repeated int32 n = 1; }
  service S { rpc Get(Asked) returns (Answered); }`

const REQUIRED = /(?<=  )(int32 n|int32 i|string s|bool b|double d|bytes raw|Kind kind|Inner inner) = (\d+);/g
const withFeature = (edition: string): string =>
  `edition = "${edition}"; package p; ${body(' ').replace(REQUIRED, '$1 = $2 [features.field_presence = LEGACY_REQUIRED];')}`

/** What goes over the wire, as hexadecimal digits. */
async function sentBy(text: string, args: Readonly<Record<string, unknown>>): Promise<string> {
  const server = disposables().use(await startBytesServer('/p.S/Get', () => new Uint8Array()))
  const opened = await source({ endpoint: server.address, protoText: { 'p.proto': text }, expose: 'all' })
  await opened.call('p.S.Get', args)
  return Buffer.from(server.requests[0]!).toString('hex')
}

const ZEROS = { i: 0, s: '', b: false, d: 0, raw: '', kind: 'ZERO' }

it.each([
  ['proto2, required', `syntax = "proto2"; package p; ${body('required')}`],
  ['edition 2023, LEGACY_REQUIRED', withFeature('2023')],
  ['edition 2024, LEGACY_REQUIRED', withFeature('2024')],
])('%s: a zero is sent, wherever the field stands', async (_what, text) => {
  const inner = { n: 0 }
  const args = { ...ZEROS, inner, many: [inner], by: [{ key: 'k', value: inner }], first: inner }
  const fields = ['0800', '1200', '1800', '210000000000000000', '2a00', '3000', '3a020800']
  const list = '42020800'
  const map = '4a070a016b12020800'
  const ofOneof = '52020800'
  expect(await sentBy(text, args)).toBe([...fields, list, map, ofOneof].join(''))
})

it('a group, a field with another default and the fields of a group are fields as all others', async () => {
  const text = `syntax = "proto2"; package p;
    message Asked {
      required group G = 1 { required int32 n = 1; }
      repeated group Many = 2 { required bool b = 1; }
      required int32 five = 3 [default = 5];
      optional int32 free = 4 [default = 5];
    }
    message Answered { repeated int32 n = 1; }
    service S { rpc Get(Asked) returns (Answered); }`
  const args = { g: { n: 0 }, many: [{ b: false }], five: 0, free: 0 }
  expect(await sentBy(text, args)).toBe('0b08000c1308001418002000')
})

it('a field without presence is left out where it is zero', async () => {
  const text = `syntax = "proto3"; package p; ${body('')}`
  expect(await sentBy(text, { ...ZEROS, second: 0 })).toBe('5800')
})

it.each([
  ['proto2', 'syntax = "proto2"; package p;', 'required Nothing must = 1;'],
  [
    'an edition',
    'edition = "2023"; package p;',
    'Nothing must = 1 [features.field_presence = LEGACY_REQUIRED];',
  ],
])('a required message without fields is true, and false is refused: %s', async (_what, head, field) => {
  const text = `${head} message Nothing {} message Asked { ${field} }
    message Answered { repeated int32 n = 1; } service S { rpc Get(Asked) returns (Answered); }`
  expect(await sentBy(text, { must: true })).toBe('0a00')
  await expect(sentBy(text, { must: false })).rejects.toThrow(
    /must.*must be true \(p\.Nothing has no fields\)/,
  )
})
