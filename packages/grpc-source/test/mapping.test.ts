import { printSchema, printType } from 'graphql'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createYoga } from 'graphql-yoga'
import { waitUntil } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'
import { createGrpcSource, useGrpcSource, type GrpcSourceOptions } from '../src/index.ts'
import { backend, disposables, run, source, yogaWith } from './harness.ts'

const service = (body: string, rest = ''): string =>
  `syntax = "proto3";\npackage m;\nimport "graphql.proto";\nimport "google/protobuf/field_mask.proto";\nimport "google/protobuf/empty.proto";\n${rest.startsWith('import') ? rest : ''}\nservice S {\n${body}\n}\n${rest.startsWith('import') ? '' : rest}`

const THING = `
  message Req { string id = 1; int32 limit = 2; }
  message Things { repeated Thing things = 1; }
  message Thing {
    string id = 1;
    int64 big = 2;
    Kind kind = 3;
    map<string, int64> counts = 4;
    oneof by { string name = 5; Part part = 6; Part other = 7; int64 number = 8; }
    bytes data = 9;
    Part single = 10;
  }
  message Part { string text = 1; string more = 2; }
  enum Kind { KIND_UNSPECIFIED = 0; KIND_GOOD = 1; KIND_BAD = 2; }
`
const GET = service(
  'rpc Get(Req) returns (Thing) { option (graphql.schema) = { name: "get" }; } rpc Put(Thing) returns (Thing) { option (graphql.schema) = { type: MUTATION name: "put" request { name: "input" } }; }',
  THING,
)
const thing = {
  id: '1',
  big: '9007199254740993',
  kind: 'KIND_GOOD',
  counts: { a: '5' },
  part: { text: 't' },
  data: Buffer.from([255]),
}

async function served(options: Partial<GrpcSourceOptions>, query: string): Promise<any> {
  const { address } = await backend(
    { 'm.proto': GET },
    { 'm.S/Get': () => thing, 'm.S/Put': (request) => request },
  )
  return run(yogaWith(await source({ protoText: { 'm.proto': GET }, endpoint: address, ...options })), query)
}

describe('mapping options', () => {
  it.each([
    [
      'fieldNames: proto',
      { fieldNames: 'proto' },
      '{ get { id big } }',
      { id: '1', big: '9007199254740993' },
    ],
    [
      'int64: number-when-safe',
      { int64: 'number-when-safe' },
      '{ get { big counts { key value } } }',
      { big: '9007199254740993', counts: [{ key: 'a', value: 5 }] },
    ],
    [
      'int64: bigint-scalar',
      { int64: 'bigint-scalar' },
      '{ get { big counts { key value } } }',
      { big: '9007199254740993', counts: [{ key: 'a', value: '5' }] },
    ],
    [
      'int64: bigint-scalar with maps: json',
      { int64: 'bigint-scalar', maps: 'json' },
      '{ get { counts } }',
      { counts: { a: '5' } },
    ],
    ['maps: json', { maps: 'json' }, '{ get { counts } }', { counts: { a: '5' } }],
    ['stripEnumPrefix', { stripEnumPrefix: true }, '{ get { kind } }', { kind: 'GOOD' }],
    ['hideUnspecified', { hideUnspecified: true }, '{ get { kind } }', { kind: 'KIND_GOOD' }],
    [
      'oneofs: union',
      { oneofs: 'union' },
      '{ get { by { __typename ... on ThingPart { value { text } } } } }',
      { by: { __typename: 'ThingPart', value: { text: 't' } } },
    ],
    [
      'fields: another name',
      { fields: { 'm.Thing.big': { name: 'large', required: true } } },
      '{ get { large } }',
      { large: '9007199254740993' },
    ],
    ['bytes as base64', {}, '{ get { data } }', { data: '/w==' }],
  ] as const)('%s', async (_name, options, query, expected) => {
    expect(await served(options, query)).toEqual({ data: { get: expected } })
  })

  it('inputs take integers past 2^53 and entries, exactly', async () => {
    const query =
      'mutation { put(input: { big: 9007199254740993, counts: [{ key: "a", value: "1" }] }) { big counts { value } } }'
    expect((await served({ int64: 'bigint-scalar' }, query)).data.put).toEqual({
      big: '9007199254740993',
      counts: [{ value: '1' }],
    })
  })

  it('two types of one name are named by their packages, or as typeNames says', async () => {
    const protoText = {
      'a.proto': 'syntax = "proto3"; package a; message Status { string a = 1; }',
      'b.proto': 'syntax = "proto3"; package b; message Status { string b = 1; }',
      'm.proto': service(
        'rpc Get(google.protobuf.Empty) returns (Both) { option (graphql.schema).name = "get"; }',
        'message Both { a.Status a = 1; b.Status b = 2; }',
      ).replace('import "graphql.proto";', 'import "graphql.proto"; import "a.proto"; import "b.proto";'),
    }
    const plain = await source({ protoText, endpoint: 'x:1' })
    expect(printType(plain.schema.getType('Both') as never)).toContain('a: Status\n  b: BStatus')
    expect(plain.notes).toEqual([
      'b.Status is called "BStatus", because a.Status already has the name "Status"',
    ])
    const grpc = await source({ protoText, endpoint: 'x:1', typeNames: { 'b.Status': 'Other' } })
    expect(printType(grpc.schema.getType('Both') as never)).toContain('a: Status\n  b: Other')
  })

  it('required, field_behavior and buf.validate make fields non-null', async () => {
    const proto = `syntax = "proto3"; package m; import "graphql.proto"; import "google/api/field_behavior.proto"; import "buf/validate/validate.proto";
      service S { rpc Put(T) returns (T) { option (graphql.schema).name = "put"; } }
      message T {
        string a = 1 [(graphql.field).required = true];
        string b = 2 [(google.api.field_behavior) = REQUIRED];
        string c = 3 [(google.api.field_behavior) = OUTPUT_ONLY];
        string d = 4 [(google.api.field_behavior) = INPUT_ONLY, (google.api.field_behavior) = REQUIRED];
        string e = 5 [(buf.validate.field).required = true];
        oneof f { option (buf.validate.oneof).required = true; string g = 6; string h = 7; }
      }`
    const validate =
      'syntax = "proto2"; package buf.validate; import "google/protobuf/descriptor.proto"; extend google.protobuf.FieldOptions { optional FieldRules field = 1159; } extend google.protobuf.OneofOptions { optional OneofRules oneof = 1159; } message FieldRules { optional bool required = 25; } message OneofRules { optional bool required = 1; }'
    const grpc = await source({
      protoText: { 'm.proto': proto, 'buf/validate/validate.proto': validate },
      endpoint: 'x:1',
    })
    expect(printSchema(grpc.schema)).toMatchInlineSnapshot(`
      "type Query {
        put(a: String!, b: String!, d: String!, e: String!, f: TFInput!): T
      }

      type T {
        a: String!
        b: String!
        c: String
        e: String!
        g: String
        h: String
      }

      input TFInput @oneOf {
        g: String
        h: String
      }"
    `)
  })

  it("expose: 'all' tells queries, mutations and subscriptions apart", async () => {
    const proto =
      'syntax = "proto3"; package m; message E { string a = 1; } service S { rpc GetIt(E) returns (E); rpc Getter(E) returns (E); rpc Look(E) returns (E) { option idempotency_level = NO_SIDE_EFFECTS; } rpc Watch(E) returns (stream E); rpc Up(stream E) returns (E); }'
    const { schema } = await source({ protoText: { 'm.proto': proto }, endpoint: 'x:1', expose: 'all' })
    expect(
      [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].map((type) =>
        Object.keys(type?.getFields() ?? {}),
      ),
    ).toEqual([['getIt', 'look'], ['getter', 'up'], ['watch']])
  })

  it.each(['getBooks', 'list_books', 'GetBooks', 'batchGetBooks', 'Batch_get', 'search', 'List2'])(
    "expose: 'all' takes %s for a query",
    async (name) => {
      const proto = `syntax = "proto3"; package m; message E { string a = 1; } service S { rpc ${name}(E) returns (E); rpc getaway(E) returns (E); rpc Listen(E) returns (E); }`
      const { schema } = await source({ protoText: { 'm.proto': proto }, endpoint: 'x:1', expose: 'all' })
      expect(Object.keys(schema.getQueryType()?.getFields() ?? {})).toHaveLength(1)
      expect(Object.keys(schema.getMutationType()?.getFields() ?? {})).toEqual(['getaway', 'listen'])
    },
  )

  it("expose: 'all' notes mutations whose names say that they may only read", async () => {
    const proto =
      'syntax = "proto3"; package m; message E { string a = 1; } service S { rpc FindBooks(E) returns (E); rpc countBooks(E) returns (E); rpc Finder(E) returns (E); rpc ReadBook(E) returns (E); }'
    const { notes } = await source({
      protoText: { 'm.proto': proto },
      endpoint: 'x:1',
      expose: 'all',
      methods: { 'm.S.ReadBook': { schema: { type: 'MUTATION' } } },
    })
    expect(notes).toEqual([
      `m.S.FindBooks, m.S.countBooks: mapped to mutations, because the protos do not declare them as reads; if a method only reads, add "option idempotency_level = NO_SIDE_EFFECTS" to the proto, or set methods: { 'm.S.FindBooks': { schema: { type: 'QUERY' } } }`,
    ])
  })

  it('methods options win over the proto, also for protos without annotations', async () => {
    const { schema } = await source({
      protoText: { 'm.proto': GET },
      endpoint: 'x:1',
      methods: {
        'm.S.Get': {
          schema: { name: 'thing', response: { required: true } },
          liveQuery: { enabled: true, throttleMs: 0, triggers: ['Thing.*'] },
        },
        'm.S.Put': { schema: false },
      },
    })
    const field = schema.getQueryType()?.getFields()['thing']
    expect([String(field?.type), field?.extensions['liveQuery'], schema.getMutationType()]).toEqual([
      'Thing!',
      { enabled: true, throttleMs: 0, triggers: ['Thing.*'] },
      undefined,
    ])
  })

  it.each([
    ['none', [], []],
    ['nothing said', undefined, undefined],
  ])('triggers of a live method: %s', async (_, triggers, expected) => {
    const { schema } = await source({
      protoText: { 'm.proto': GET },
      endpoint: 'x:1',
      expose: 'all',
      methods: { 'm.S.Get': { liveQuery: { enabled: true, triggers } } },
    })
    const field = Object.values(schema.getQueryType()?.getFields() ?? {})[0]
    expect((field!.extensions['liveQuery'] as { triggers?: unknown }).triggers).toEqual(expected)
  })

  it('methods options win over the proto setting by setting: what they do not name is as it says', async () => {
    const text = `syntax = "proto3"; package m; import "graphql.proto";
      message Asked { string id = 1; int32 limit = 2; }
      message Answered { repeated string names = 1; }
      service S { rpc Change(Asked) returns (Answered) {
        option (graphql.schema) = { type: QUERY name: "names" request { name: "input" plucks: "id" } response { pluck: "names" } };
        option (graphql.live_query) = { enabled: true throttle_ms: 700 triggers: "Name.update" };
      } rpc Alter(Asked) returns (Answered); }`
    const { schema } = await source({
      protoText: { 'm.proto': text },
      endpoint: 'x:1',
      expose: 'all',
      methods: {
        'm.S.Change': {
          schema: { type: undefined, response: { required: true }, request: { name: 'asked' } },
          liveQuery: { strategy: 'HASH_DIFF', throttleMs: undefined },
        },
        'm.S.Alter': { schema: { name: 'changed' } },
      },
    })
    const field = schema.getQueryType()?.getFields()['names']
    expect(String(field?.type)).toBe('[String!]!')
    expect(field?.args.map(({ name, type }) => `${name}: ${String(type)}`)).toEqual(['asked: AskedInput'])
    expect(field?.extensions['liveQuery']).toEqual({
      enabled: true,
      strategy: 'HASH_DIFF',
      throttleMs: 700,
      triggers: ['Name.update'],
    })
    // What the proto does not say is as for a method without settings.
    expect(Object.keys(schema.getMutationType()?.getFields() ?? {})).toEqual(['changed'])
  })

  it('invalidates in the options, several events and another id', async () => {
    const events: unknown[] = []
    const bus = {
      publish: async (batch: readonly unknown[]) => void events.push(...batch),
      subscribe: () => () => {},
    }
    const rules = [
      { entityType: 'Thing', operation: 'reset' },
      { entityType: 'Part', entityId: '{by.name}' },
      { entityType: 'Part', entityId: '$.single.text' },
    ]
    await served(
      { bus, methods: { 'm.S.Put': { invalidates: rules } } },
      'mutation { put(input: { id: "7", by: { name: "n" }, single: { text: "t" } }) { id } }',
    )
    expect(events).toEqual([
      { entityType: 'Thing', operation: 'reset', entityId: '7' },
      { entityType: 'Part', operation: 'update', entityId: 'n' },
      { entityType: 'Part', operation: 'update', entityId: 't' },
    ])
  })

  it('an id in the options that no call can have is refused at the start', async () => {
    const invalidates = { entityType: 'Part', entityId: 'name' }
    await expect(
      source({ protoText: { 'm.proto': GET }, methods: { 'm.S.Put': { invalidates } } }),
    ).rejects.toThrow(
      'm.S.Put: invalidates.entityId "name" is not a valid reference to an argument or to the result; write {id}',
    )
  })

  it('a call from code announces the id of its request', async () => {
    const events: unknown[] = []
    const bus = {
      publish: async (batch: readonly unknown[]) => void events.push(...batch),
      subscribe: () => () => {},
    }
    const { address } = await backend({ 'm.proto': GET }, { 'm.S/Put': (request) => request })
    const grpc = await source({
      bus,
      protoText: { 'm.proto': GET },
      endpoint: address,
      methods: { 'm.S.Put': { invalidates: { entityType: 'Thing', entityId: '{id}' } } },
    })
    yogaWith(grpc)
    await grpc.call('m.S.Put', { id: '7' })
    expect(events).toContainEqual({ entityType: 'Thing', operation: 'update', entityId: '7' })
  })

  it('uploads: bytes come as files of a multipart request', async () => {
    const { address } = await backend(
      { 'm.proto': GET },
      { 'm.S/Get': () => thing, 'm.S/Put': (request) => request },
    )
    const yoga = yogaWith(await source({ protoText: { 'm.proto': GET }, endpoint: address, uploads: true }))
    const form = new FormData()
    form.set(
      'operations',
      JSON.stringify({
        query: 'mutation ($file: Upload) { put(input: { data: $file }) { data } }',
        variables: { file: null },
      }),
    )
    form.set('map', JSON.stringify({ 0: ['variables.file'] }))
    form.set('0', new File([Uint8Array.of(1, 2, 255)], 'x.bin'))
    const response = await yoga.fetch('http://test/graphql', { method: 'POST', body: form })
    expect(await response.json()).toEqual({ data: { put: { data: 'AQL/' } } })
  })
})

describe('field masks', () => {
  const proto = service(
    'rpc Get(MaskReq) returns (Thing) { option (graphql.schema).name = "get"; } rpc Batch(Keys) returns (Things);',
    `${THING} message MaskReq { string id = 1; google.protobuf.FieldMask read_mask = 2; } message Keys { repeated string ids = 1; }`,
  )

  it('send what is selected, through fragments, and what joins need; the client’s own mask wins', async () => {
    const masks: unknown[] = []
    const { address } = await backend(
      { 'm.proto': proto },
      {
        'm.S/Get': ({ readMask }) => (masks.push(readMask?.paths), thing),
        'm.S/Batch': () => ({ things: [] }),
      },
    )
    const grpc = await source({
      protoText: { 'm.proto': proto },
      endpoint: address,
      fieldMasks: true,
      joins: [
        {
          type: 'Thing',
          field: 'twin',
          batch: { method: 'm.S.Batch', keys: 'ids', items: 'things', parentKey: 'id' },
        },
      ],
    })
    const yoga = yogaWith(grpc)
    await run(
      yoga,
      '{ get { __typename big single { text } ...F } } fragment F on Thing { counts { key } twin { id } }',
    )
    await run(yoga, '{ get(readMask: "big") { id } }')
    expect(masks).toEqual([['big', 'single.text', 'counts', 'id'], ['big']])
  })

  it.each([
    ['each other twice', 30, (next: string) => `${next} ${next}`, ['text']],
    ['each other below two fields', 13, (next: string) => `left { ${next} } right { ${next} }`, undefined],
  ])('of fragments that spread %s are no longer than they may be', async (_, links, link, expected) => {
    const tree = service(
      'rpc Get(TreeReq) returns (Tree) { option (graphql.schema).name = "get"; }',
      `message TreeReq { google.protobuf.FieldMask read_mask = 1; }
       message Tree { string text = 1; Tree left = 2; Tree right = 3; }`,
    )
    const masks: unknown[] = []
    const { address } = await backend(
      { 'm.proto': tree },
      { 'm.S/Get': ({ readMask }) => (masks.push(readMask?.paths), { text: 't' }) },
    )
    const grpc = await source({ protoText: { 'm.proto': tree }, endpoint: address, fieldMasks: true })
    const fragments = Array.from(
      { length: links },
      (_, at) => `fragment F${at} on Tree { ${link(`...F${at + 1}`)} }`,
    )
    const last = `fragment F${links} on Tree { text }`
    await run(yogaWith(grpc), `{ get { ...F0 } } ${fragments.join(' ')} ${last}`)
    expect(masks).toEqual([expected])
  })
})

describe('reload', () => {
  it('takes new protos without a restart, keeps the old schema when they are broken, and watches on request', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'grpc-watch-'))
    disposables().use(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'm.proto')
    writeFileSync(file, GET)
    const errors: unknown[] = []
    const grpc = await source({
      protoFiles: [file],
      endpoint: 'x:1',
      watch: true,
      logger: { warn: () => {}, error: (_, error) => errors.push(error) },
    })
    const yoga = createYoga({ logging: false, plugins: [useGrpcSource(grpc)] })
    const fields = async (): Promise<string[]> =>
      (await run(yoga, '{ __schema { queryType { fields { name } } } }')).data.__schema.queryType.fields.map(
        ({ name }: any) => name,
      )
    expect(await fields()).toEqual(['get'])
    writeFileSync(file, GET.replace('name: "get"', 'name: "fetched"'))
    await waitUntil(async () => (await fields()).includes('fetched'))
    writeFileSync(file, 'syntax = "proto3"; message {')
    await waitUntil(() => errors.length > 0)
    expect(await fields()).toEqual(['fetched'])
    await expect(grpc.reload()).rejects.toThrow('is not a valid .proto file')
  })
})

describe('what is wrong stops the start with one clear error', () => {
  const text = (proto: string): Partial<GrpcSourceOptions> => ({
    protoText: { 'm.proto': proto },
    endpoint: 'x:1',
  })
  it.each([
    [
      'a wrong proto',
      text('syntax = "proto3";\nmessage A { int32 = 3; }'),
      'm.proto is not a valid .proto file: line 2, column 19: expected the field\'s name, found "="',
    ],
    [
      'a missing import',
      text('syntax = "proto3"; import "no/where.proto"; message A { no.Where there = 1; }'),
      'm.proto imports "no/where.proto", which was not found (includePaths is empty), and A.there uses the type "no.Where", which is not defined in any other file; add the folder of the imported file to includePaths',
    ],
    [
      'a missing file',
      { protoFiles: ['no/such.proto'], endpoint: 'x:1' },
      'the proto file "no/such.proto" was not found',
    ],
    [
      'an unknown type',
      text('syntax = "proto3"; package m; message A { Nope b = 1; }'),
      'm.proto is not a valid .proto file: line 1, column 43: m.A.b uses the type "Nope"',
    ],
    [
      'an unknown option',
      text(service('rpc Get(Req) returns (Req) { option (graphql.shema).name = "x"; }', 'message Req {}')),
      'm.proto: m.S.Get has the option (graphql.shema), which is not defined in any imported file',
    ],
    [
      'an unknown field of an option',
      text(
        service('rpc Get(Req) returns (Req) { option (graphql.schema) = { nam: "x" }; }', 'message Req {}'),
      ),
      'm.proto: m.S.Get, option (graphql.schema): unknown field "nam" for message graphql.GraphqlSchema',
    ],
    [
      'an unknown response pluck',
      text(
        service(
          'rpc Get(Req) returns (Req) { option (graphql.schema) = { name: "x" response { pluck: "nope" } }; }',
          'message Req { string id = 1; }',
        ),
      ),
      'm.proto: m.S.Get: response.pluck: m.Req has no field "nope"; its fields are id',
    ],
    [
      'an unknown request pluck',
      text(
        service(
          'rpc Get(Req) returns (Req) { option (graphql.schema) = { name: "x" request { plucks: ["nope"] } }; }',
          'message Req { string id = 1; }',
        ),
      ),
      'request.plucks: m.Req has no field "nope"',
    ],
    [
      'an unknown resolver',
      text(
        service(
          'rpc Get(Req) returns (Req) { option (graphql.schema).name = "x"; }',
          'message Req { string id = 1 [(graphql.field).resolver = "nope"]; }',
        ),
      ),
      'm.proto: m.Req.id: (graphql.field).resolver is "nope"',
    ],
    [
      'two fields of one name',
      text(
        service(
          'rpc A(Req) returns (Req) { option (graphql.schema).name = "x"; } rpc B(Req) returns (Req) { option (graphql.schema).name = "x"; }',
          'message Req { string id = 1; }',
        ),
      ),
      'm.proto: m.S.B: the query field "x" has the same name as the field of m.S.A (m.proto)',
    ],
    [
      'a bad trigger',
      text(
        service(
          'rpc A(Req) returns (Req) { option (graphql.schema).name = "x"; option (graphql.live_query) = { enabled: true triggers: "User" }; }',
          'message Req { string id = 1; }',
        ),
      ),
      'live_query.triggers contains "User"; write "<EntityType>.<operation>"',
    ],
    [
      'a live mutation',
      text(
        service(
          'rpc A(Req) returns (Req) { option (graphql.schema) = { type: MUTATION }; option (graphql.live_query).enabled = true; }',
          'message Req { string id = 1; }',
        ),
      ),
      'm.S.A: has live_query.enabled but is a MUTATION',
    ],
    [
      'a subscription that answers once',
      text(
        service(
          'rpc A(Req) returns (Req) { option (graphql.schema) = { type: SUBSCRIPTION }; }',
          'message Req {}',
        ),
      ),
      'is a SUBSCRIPTION but returns one response',
    ],
    [
      'a wrong default',
      text(
        service(
          'rpc A(Req) returns (Req) { option (graphql.schema).name = "a"; }',
          'message Req { int32 n = 1 [(graphql.field).default = "many"]; }',
        ),
      ),
      'm.Req.n: the default "many" is not a value of the type Int',
    ],
    [
      'metadata that is a text, which is not told',
      { protoText: { 'm.proto': GET }, endpoint: 'x:1', metadata: { static: 's3cret' as never } },
      'option metadata.static is a string; expected an object whose values are strings, bytes, or lists of strings or bytes',
    ],
    [
      'no endpoint',
      { protoText: { 'm.proto': GET } },
      'm.S: has no endpoint; set endpoint, endpoints["m.S"] or (graphql.service).host',
    ],
    [
      'an unknown method in the options',
      { ...text(GET), methods: { 'm.S.Nope': {} } },
      'methods: the protos have no method "m.S.Nope"',
    ],
    [
      'nothing exposed',
      text('syntax = "proto3"; package m; service S { rpc A(E) returns (E); } message E {}'),
      'no method is exposed',
    ],
    [
      'no descriptors',
      { endpoint: 'x:1' },
      'no descriptors are configured; set exactly one of protoFiles (or protoText), descriptorSet, reflection and protoMetadata',
    ],
    ['two inputs', { ...text(GET), reflection: true }, 'protoText and reflection are set'],
    [
      'no descriptor set',
      { descriptorSet: 'nowhere.binpb', endpoint: 'x:1' },
      '"nowhere.binpb" cannot be read as a FileDescriptorSet (ENOENT',
    ],
    [
      'junk for a descriptor set',
      { descriptorSet: Uint8Array.of(1, 2, 3), endpoint: 'x:1' },
      'the given bytes cannot be read as a FileDescriptorSet',
    ],
    [
      'no metadata for ts-proto',
      { protoMetadata: [{}], endpoint: 'x:1' },
      'protoMetadata[0] is not the protoMetadata of a generated file; generate the file with ts-proto\'s option "outputSchema=true"',
    ],
    [
      'an unreachable reflection server',
      { reflection: true, endpoint: '127.0.0.1:1' },
      /could not load the descriptors from the server at 127\.0\.0\.1:1 \(UNAVAILABLE/,
    ],
    [
      'a wrong endpoint',
      { ...text(GET), endpoint: 'ftp://x/y' },
      'the endpoint "ftp://x/y" is not a valid address',
    ],
  ] as const)('%s', async (_what, options, message) => {
    await expect(createGrpcSource({ name: 'm', ...(options as Partial<GrpcSourceOptions>) })).rejects.toThrow(
      message as string,
    )
  })

  it('tells all findings at once', async () => {
    const proto = service(
      'rpc A(Req) returns (Req) { option (graphql.schema) = { name: "a" response { pluck: "x" } }; } rpc B(Req) returns (Req) { option (graphql.schema) = { name: "a" request { plucks: "y" } }; }',
      'message Req { string id = 1; }',
    )
    await expect(source(text(proto))).rejects.toMatchObject({
      code: 'GRPC_SOURCE_LINT',
      findings: { length: 3 },
      message: expect.stringContaining('3 errors:\n- m.proto: m.S.A:'),
    })
  })
})

describe('NaN and infinities read as null, wherever they stand, and fail nothing else', () => {
  const proto = `syntax = "proto3"; package m; import "graphql.proto"; import "google/protobuf/wrappers.proto"; import "google/protobuf/empty.proto";
    service S { rpc Get(google.protobuf.Empty) returns (T) { option (graphql.schema).name = "get"; } }
    message T { double one = 1; repeated double list = 2; repeated float floats = 3; map<string, double> map = 4;
      repeated google.protobuf.DoubleValue wrapped = 5; oneof arm { double single = 6; string text = 7; } string after = 8; }`

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])('%s', async (odd) => {
    const { address } = await backend(
      { 'm.proto': proto },
      {
        'm.S/Get': async () => ({
          one: odd,
          list: [1, odd, 2],
          floats: [odd],
          map: { a: odd, b: 1 },
          wrapped: [{ value: odd }],
          single: odd,
          after: 'here',
        }),
      },
    )
    for (const [oneofs, selection] of [
      ['fields', 'single'],
      ['union', 'arm { ... on TSingle { value } }'],
    ] as const) {
      for (const plans of [true, false]) {
        const yoga = yogaWith(
          await source({ protoText: { 'm.proto': proto }, endpoint: address, oneofs, plans }),
        )
        const answer = await run(
          yoga,
          `{ get { one list floats map { key value } wrapped ${selection} after } }`,
        )
        expect(answer).toEqual({
          data: {
            get: {
              one: null,
              list: [1, null, 2],
              floats: [null],
              map: [
                { key: 'a', value: null },
                { key: 'b', value: 1 },
              ],
              wrapped: [null],
              ...(oneofs === 'fields' ? { single: null } : { arm: null }),
              after: 'here',
            },
          },
        })
      }
    }
  })
})
