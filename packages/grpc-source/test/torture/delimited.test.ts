import { expect, it } from 'vitest'
import { startBytesServer } from '../bytes-server.ts'
import { disposables, run, source, yogaWith } from '../harness.ts'

const files = ['any', 'duration', 'empty', 'field_mask', 'struct', 'timestamp', 'wrappers']
const proto = `edition = "2023"; package p;
${files.map((file) => `import "google/protobuf/${file}.proto";`).join('\n')}
option features.message_encoding = DELIMITED;
message Held {
  google.protobuf.Timestamp at = 1;
  google.protobuf.Duration lasts = 2;
  google.protobuf.Int32Value number = 3;
  google.protobuf.Struct struct = 4;
  google.protobuf.FieldMask mask = 5;
  google.protobuf.Any any = 6;
  google.protobuf.Empty empty = 7;
  repeated google.protobuf.Timestamp times = 8;
  oneof one { google.protobuf.StringValue text = 9; Inner inner = 10; }
  map<string, google.protobuf.Timestamp> by = 11;
  int32 last = 2000;
}
message Inner { google.protobuf.ListValue list = 1; }
message Asked { Held held = 1; }
service S { rpc Get(Asked) returns (Held); }`

const held = {
  at: '1970-01-01T00:00:05Z',
  lasts: '1.500s',
  number: 0,
  struct: { a: { b: [1] } },
  mask: 'a,bC',
  any: { '@type': 'type.googleapis.com/p.Inner', list: [true, null] },
  empty: true,
  times: ['1970-01-01T00:00:00Z', '1970-01-01T00:00:05Z'],
  one: { inner: { list: [[], 'x'] } },
  by: [{ key: 'k', value: '1970-01-01T00:00:05Z' }],
  last: 7,
}

it.each([true, false])(
  'well-known types between tags are sent and read as others, plans %s',
  async (plans) => {
    const server = disposables().use(await startBytesServer('/p.S/Get', () => self.reply))
    const self: { reply: Uint8Array } = { reply: new Uint8Array() }
    const grpc = await source({
      endpoint: server.address,
      protoText: { 'p.proto': proto },
      expose: 'all',
      plans,
    })
    const yoga = yogaWith(grpc)
    const fields = 'at lasts number struct mask any empty times text inner { list } by { key value } last'
    const ask = () =>
      run(yoga, `query ($held: HeldInput) { get(held: $held) { ${fields} } }`, { variables: { held } })
    await ask()
    // What stands between the tags of the field `held`.
    self.reply = server.requests[0]!.subarray(1, -1)
    const { one, ...others } = held
    expect(await ask()).toEqual({ data: { get: { ...others, ...one, text: null } } })
    // What is not asked for is stepped over.
    expect(await run(yoga, '{ get { last } }')).toEqual({ data: { get: { last: 7 } } })
    const hex = Buffer.from(self.reply).toString('hex')
    expect(hex.startsWith('0b08050c1308011080cab5ee01141b1c')).toBe(true)
  },
)
