import { readFileSync } from 'node:fs'
import { clearField, fromBinary, isFieldSet, toBinary } from '@bufbuild/protobuf'
import {
  FieldDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type DescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorSet,
} from '@bufbuild/protobuf/wkt'
import { printSchema, printType, type GraphQLSchema } from 'graphql'
import { beforeAll, describe, expect, it } from 'vitest'
import { createGrpcSource } from '../src/index.ts'
import { source } from './harness.ts'
import { buildDescriptorSet, INCLUDE_PATHS } from './torture/generate.ts'

describe('a descriptor set of any origin gives what the .proto text gives', () => {
  let set: Uint8Array
  let fromText: string

  beforeAll(async () => {
    set = readFileSync(buildDescriptorSet())
    const grpc = await createGrpcSource({
      name: 'torture',
      protoFiles: ['torture/v1/torture.proto'],
      includePaths: INCLUDE_PATHS,
    })
    fromText = printSchema(grpc.schema)
    await grpc.close()
  }, 240_000)

  it.each<[string, (field: FieldDescriptorProto) => void]>([
    ['without json_name, as C++ reflection and embedded descriptors are', (field) => (field.jsonName = '')],
    [
      'without the type of fields that name one',
      (field) => {
        const { type } = FieldDescriptorProtoSchema.field
        if (field.typeName !== '' && isFieldSet(field, type)) clearField(field, type)
      },
    ],
    [
      'with names that are not absolute',
      (field) => void (field.typeName = field.typeName.replace(/^\./, '')),
    ],
  ])('%s', async (_what, change) => {
    const descriptors = fromBinary(FileDescriptorSetSchema, set)
    for (const field of fieldsOf(descriptors)) change(field)
    const bytes = toBinary(FileDescriptorSetSchema, descriptors)
    expect(printSchema((await source({ descriptorSet: bytes })).schema)).toBe(fromText)
  })
})

const HEAD = `
  syntax = "proto2";
  package m;
  import "graphql.proto";
  import "google/protobuf/descriptor.proto";
  import "google/protobuf/duration.proto";
  import "google/protobuf/any.proto";
  import "google/api/http.proto";
  message Rule {
    optional google.protobuf.Duration lower = 1;
    optional google.protobuf.Any any = 2;
    map<string, int32> weights = 3;
    repeated string names = 4;
    optional double limit = 5;
    optional bytes raw = 6;
    optional Rule inner = 7;
    extensions 100 to max;
  }
  extend Rule { optional string more = 100; }
  extend google.protobuf.FieldOptions { optional Rule rule = 50001; repeated Rule rules = 50002; optional double edge = 50003; }
  message Req { optional string id = 1; }
`

async function schemaOf(text: string): Promise<GraphQLSchema> {
  return (await source({ protoText: { 'm.proto': text }, endpoint: 'localhost:1' })).schema
}

const GET =
  'service S { rpc Get(Req) returns (Thing) { option (graphql.schema) = { type: QUERY name: "get" }; } }'

describe('options in .proto text', () => {
  it.each([
    ['a well-known type', '(rule) = { lower: { seconds: 1 nanos: -2 } }'],
    ['a path into a well-known type', '(rule).lower.seconds = 0x1F'],
    [
      'an expanded Any',
      '(rule) = { any: { [type.googleapis.com/m.Req] { id: "x" } }, inner < any < [a.b/m.Nowhere]: {} > > }',
    ],
    ['maps', '(rule) = { weights: { key: "a" value: 1 } weights: [{ key: "b", value: 2 }] }'],
    ['lists, and repeated options', '(rules) = { names: ["a", "b"] names: "c" }, (rules) = { names: [] }'],
    ['infinities', '(edge) = -inf, (rule) = { limit: nan }'],
    ['an extension inside a value', '(rule) = { [m.more]: "x" }'],
    ['bytes and joined strings', `(rule) = { raw: "\\xFF\\377" 'b' "\\u00e9" names: "a" "b" }`],
    ['comments and separators', '(rule) = { // one }\n names: "a"; /* two ] */ limit: 1e3, }'],
    ['options of a file that is not there', '(validate.rules).string = { min_len: 1, in: ["a", "b"] }'],
    ['built-in options newer than this package', 'targets = TARGET_TYPE_FIELD, targets = TARGET_TYPE_FILE'],
    ['a value that its option cannot hold', '(rule) = { nobody_knows: [ <a: 1>, {} ] }, lazy = "maybe"'],
  ])('%s: nobody reads it, and the start goes on', async (_what, options) => {
    const schema = await schemaOf(
      `${HEAD} message Thing { optional string id = 1 [${options}, deprecated = true]; } ${GET}`,
    )
    expect(printType(schema.getType('Thing') as never)).toContain('id: String @deprecated')
  })

  it.each([
    ['one message', 'option (graphql.schema) = { type: QUERY, name: "get" };'],
    ['paths', 'option (graphql.schema).name = "get"; option (graphql.schema).type = QUERY;'],
    ['angle brackets', 'option (graphql.schema) = { name: "g" "et" request < plucks: ["id"] > };'],
    ['an absolute name', "option (.graphql.schema).name = '\\x67et';"],
  ])('that are read may be written as %s', async (_what, option) => {
    const schema = await schemaOf(
      `${HEAD} message Thing { optional string id = 1; } service S { rpc Get(Req) returns (Thing) { ${option} } }`,
    )
    expect(Object.keys(schema.getQueryType()?.getFields() ?? {})).toEqual(['get'])
  })

  it('that are read and wrong name the file, the element and the option', async () => {
    const option = 'option (graphql.schema) = { nam: "x" };'
    const start = schemaOf(
      `${HEAD} message Thing { optional string id = 1; } service S { rpc Get(Req) returns (Thing) { ${option} } }`,
    )
    await expect(start).rejects.toThrow('m.proto: m.S.Get, option (graphql.schema): unknown field "nam"')
  })

  it('of other tools that are wrong are left out, and told', async () => {
    const warnings: string[] = []
    const rules = ['get: "/a" bindings: {}', 'get: 1']
    for (const rule of rules) {
      const service = `service S { rpc Get(Req) returns (Thing) { option (google.api.http) = { ${rule} }; option (graphql.schema) = { type: QUERY name: "thing" }; } }`
      const text = `${HEAD} import "google/api/annotations.proto"; message Thing { optional string id = 1; } ${service}`
      const { schema } = await source({
        protoText: { 'm.proto': text },
        endpoint: 'localhost:1',
        logger: { warn: (message: string) => void warnings.push(message), error() {} },
      })
      expect(schema.getQueryType()?.getFields()).toHaveProperty('thing')
    }
    expect(warnings).toEqual([
      expect.stringContaining(
        'm.S.Get, option (google.api.http): unknown field "bindings" for message google.api.HttpRule; the option is ignored',
      ),
      expect.stringContaining('m.S.Get, option (google.api.http)'),
    ])
  })
})

describe('.proto text', () => {
  it('finds every file that compilers bring along, with what those import', async () => {
    const files = ['api', 'type', 'source_context', 'struct', 'wrappers', 'field_mask', 'empty', 'timestamp']
    const imports = files.map((name) => `import "google/protobuf/${name}.proto";`).join(' ')
    const schema = await schemaOf(
      `${HEAD} ${imports} message Thing { optional google.protobuf.Method m = 1; optional google.protobuf.Type t = 2; } ${GET}`,
    )
    expect(schema.getType('Method')).toBeDefined()
  })

  it.each([
    ['lines', '// One.\n//   - two\n// Three.', 'One.\n  - two\nThree.'],
    ['lines without spaces', '//One.\n//Two.', 'One.\nTwo.'],
    ['a block', '/* One.\n   * - two\n   *    two too\n   */', 'One.\n- two\n   two too'],
    ['a block with two stars', '/**\n   * One.\n   *   - two\n   */', 'One.\n  - two'],
    ['a block without stars', '/* One.\n     two */', 'One.\ntwo'],
    ['a line of a block', '/** One. */', 'One.'],
  ])('has the comments that %s hold, as they are indented', async (_what, comment, description) => {
    const schema = await schemaOf(
      `${HEAD} \n${comment}\nmessage Thing { optional string id = 1; } service S { rpc Get(Req) returns (Thing) { option (graphql.schema) = { type: QUERY name: "get" }; } }`,
    )
    expect(schema.getType('Thing')?.description).toBe(description)
  })

  it('goes on without an import that only options need, and says so', async () => {
    const warnings: string[] = []
    const grpc = await source({
      protoText: {
        'm.proto': `${HEAD} import "gogoproto/gogo.proto"; message Thing { optional string id = 1 [(gogoproto.nullable) = false]; } ${GET}`,
      },
      endpoint: 'localhost:1',
      logger: { warn: (message) => void warnings.push(message), error() {} },
    })
    expect(grpc.schema.getType('Thing')).toBeDefined()
    expect(warnings).toEqual([
      expect.stringContaining('m.proto imports "gogoproto/gogo.proto", which was not found'),
    ])
  })

  it('reads groups, keywords as names, defaults, editions and what stands between', async () => {
    const { schema } = await source({
      protoText: {
        'm.proto': `${HEAD}
          message Thing {
            ; repeated group RG = 1 { optional int32 a = 1; }
            optional string message = 2 [json_name = "said"]; optional int32 option = 3 [default = -0x10];
            oneof rpc { string stream = 4; group Nested = 5 { optional bool b = 1; } }
            reserved 10 to max; reserved "x", "y";
          } ${GET}`,
        'e.proto':
          'edition = "2023"; package e; option features.field_presence = IMPLICIT; message E { int32 n = 1; }',
      },
      endpoint: 'localhost:1',
    })
    const thing = printType(schema.getType('Thing') as never)
    expect(thing).toContain('rg: [ThingRG!]!')
    expect(thing).toContain('said: String')
    expect(thing).toContain('nested: ThingNested')
  })

  it.each([
    [
      'syntax = "proto3"; message A { int32 = 3; }',
      'line 1, column 38: expected the field\'s name, found "="',
    ],
    ['message A { optional string s = 1 [(a) = {] }; }', 'expected matching brackets'],
    ['message A {', 'found the end of the file'],
    ['/* open', 'the comment is not closed'],
    ['message A { optional string s = "x }', 'the string is not closed'],
    ['edition = "2077";', 'unknown edition "2077"'],
    ['message A { optional string s = 1 [(a) = { [[[[ ', 'found the end of the file'],
  ])('that is none says where: %s', async (text, message) => {
    await expect(schemaOf(text)).rejects.toThrow(message)
  })
})

function fieldsOf({ file }: FileDescriptorSet): FieldDescriptorProto[] {
  const inMessage = (message: DescriptorProto): FieldDescriptorProto[] => [
    ...message.field,
    ...message.extension,
    ...message.nestedType.flatMap(inMessage),
  ]
  return file.flatMap(({ messageType, extension }) => [...extension, ...messageType.flatMap(inMessage)])
}
