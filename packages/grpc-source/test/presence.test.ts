import { expect, it } from 'vitest'
import { createGrpcSource } from '../src/index.ts'
import { startBytesServer } from './bytes-server.ts'
import { disposables } from './harness.ts'

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

const withFeature = (edition: string): string =>
  `edition = "${edition}"; package p; ${body('').replace(/ (int32 n|int32 i|string s|bool b|double d|bytes raw|Kind kind|Inner inner) = (\d+);/g, ' $1 = $2 [features.field_presence = LEGACY_REQUIRED];')}`

const PROTOS = {
  'proto2, required': `syntax = "proto2"; package p; ${body('required')}`,
  'edition 2023, LEGACY_REQUIRED': withFeature('2023'),
}

it.each(Object.entries(PROTOS))('%s: a zero is sent, wherever the field stands', async (_what, text) => {
  const server = disposables().use(await startBytesServer('/p.S/Get', () => new Uint8Array()))
  const source = disposables().use(
    await createGrpcSource({
      name: 's',
      endpoint: server.address,
      protoText: { 'p.proto': text },
      expose: 'all',
    }),
  )
  const inner = { n: 0 }
  await source.call('p.S.Get', {
    i: 0,
    s: '',
    b: false,
    d: 0,
    raw: '',
    kind: 'ZERO',
    inner,
    many: [inner],
    by: [{ key: 'k', value: inner }],
    first: inner,
  })
  const sent = Buffer.from(server.requests[0]!).toString('hex')
  expect(sent).toBe(
    // The fields 1 to 7, one after the other, then the list, the map and the member of the oneof.
    [
      '0800',
      '1200',
      '1800',
      '210000000000000000',
      '2a00',
      '3000',
      '3a020800',
      '42020800',
      '4a07',
      '0a016b',
      '12020800',
      '52020800',
    ].join(''),
  )
})

it('a field without presence is left out where it is zero', async () => {
  const server = disposables().use(await startBytesServer('/p.S/Get', () => new Uint8Array()))
  const text = `syntax = "proto3"; package p; ${body('')}`
  const source = disposables().use(
    await createGrpcSource({
      name: 's',
      endpoint: server.address,
      protoText: { 'p.proto': text },
      expose: 'all',
    }),
  )
  await source.call('p.S.Get', { i: 0, s: '', b: false, d: 0, raw: '', kind: 'ZERO', second: 0 })
  expect(Buffer.from(server.requests[0]!).toString('hex')).toBe('5800')
})
