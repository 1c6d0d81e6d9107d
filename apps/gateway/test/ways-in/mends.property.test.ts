import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isPlainObject } from '@vinyasa/core'
import { startRestBackend } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { parse, stringify } from 'yaml'
import { createGateway } from '../../src/gateway.ts'
import type { GatewayConfig } from '../../src/config/types.ts'
import { createLogger } from '../../src/logging/logger.ts'
import { printSchema } from 'graphql'
import { emptyFolder, type Folder } from '../support/folder.ts'

const PROTO = `syntax = "proto3"; package a;
import "google/protobuf/any.proto"; import "google/protobuf/duration.proto"; import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto"; import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
service Things { rpc GetThing(Query) returns (Thing); rpc ListThings(Query) returns (Page); rpc findThing(Query) returns (Thing);
  rpc Save(Thing) returns (Thing); }
message Query { string thing_id = 1; int32 limit = 2; }
message Page { repeated Thing things = 1; string next = 2; }
enum Kind { KIND_UNSPECIFIED = 0; KIND_OLD = 1; }
message Left { string a = 1; }  message Right { string b = 1; }
message Thing { string thing_id = 1; int64 size = 2; uint32 count = 3; bytes raw = 4; Kind kind = 5; map<string, string> labels = 6;
  google.protobuf.Timestamp at = 7; google.protobuf.Duration took = 8; google.protobuf.FieldMask mask = 9;
  google.protobuf.Struct more = 10; google.protobuf.Any any = 11; google.protobuf.Value one = 12; google.protobuf.ListValue many = 13;
  google.protobuf.StringValue text = 14; google.protobuf.Int64Value big = 15; google.protobuf.Int32Value small = 16;
  google.protobuf.BoolValue yes = 17; google.protobuf.DoubleValue real = 18; google.protobuf.UInt32Value natural = 19;
  google.protobuf.BytesValue blob = 20; google.protobuf.FloatValue half = 21; google.protobuf.UInt64Value huge = 22;
  oneof side { Left left = 23; Right right = 24; } }`

const OPENAPI = {
  openapi: '3.0.0',
  info: { title: 't', version: '1' },
  paths: {
    '/pets': {
      post: {
        operationId: 'findPets',
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } },
        responses: {
          200: {
            description: 'd',
            headers: { 'X-Total': { schema: { type: 'integer', format: 'int32' } } },
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
          },
        },
      },
      get: {
        operationId: 'getPet',
        responses: {
          200: {
            description: 'd',
            headers: { 'X-Total': { schema: { type: 'integer', format: 'int32' } } },
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
            links: { same: { operationId: 'getPet' } },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Pet: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, age: { type: 'integer' }, tag: { type: 'string' } },
      },
    },
  },
}

const grpc = (options: object = {}) => ({
  grpc: { a: { endpoint: '127.0.0.1:1', protoFiles: ['a.proto'], expose: 'all', ...options } },
})
const openapi = (options: object = {}, others: object = {}) => ({
  rest: { pets: { baseUrl: 'BACKEND', openapi: { file: 'api.json', ...options }, ...others } },
})
const ENDPOINT = { name: 'findThing', path: '/things', method: 'POST', returnType: 'Thing' }
const TYPES = {
  Thing: {
    kind: 'object',
    fields: { id: { type: 'ID!' }, size: { type: 'Long' }, title: { type: 'String' }, rank: { type: 'Int' } },
  },
}
const rest = (endpoint: object = {}, others: object = {}) => ({
  rest: { shop: { baseUrl: 'BACKEND', types: TYPES, endpoints: [{ ...ENDPOINT, ...endpoint }], ...others } },
})

type Old = object | ((sdl: string) => string)

/**
 * What clients had, as a config that gives it or as a change of today's schema; what the config is; and the setting that is
 * named for it.
 */
const table: readonly (readonly [difference: string, now: object, old: Old, setting: RegExp])[] = [
  ...(
    [
      ['Timestamp', 'at'],
      ['Duration', 'took'],
      ['FieldMask', 'mask'],
      ['Struct', 'more'],
      ['Any', 'any'],
      ['Value', 'one'],
      ['ListValue', 'many'],
      ['StringValue', 'text'],
      ['Int64Value', 'big'],
      ['UInt64Value', 'huge'],
      ['Int32Value', 'small'],
      ['UInt32Value', 'natural'],
      ['BoolValue', 'yes'],
      ['DoubleValue', 'real'],
      ['FloatValue', 'half'],
      ['BytesValue', 'blob'],
    ] as const
  ).map(
    ([message]) =>
      [
        `${message} was an object`,
        grpc(),
        grpc({ typeNames: { [`google.protobuf.${message}`]: `Google_${message}` } }),
        new RegExp(`typeNames: \\{ google.protobuf.${message}: Google_${message} \\}`),
      ] as const,
  ),
  ['fields as the proto has them', grpc(), grpc({ fieldNames: 'proto' }), /grpc.a.fieldNames: proto/],
  ['64-bit integers as Long', grpc(), grpc({ int64: 'number-when-safe' }), /grpc.a.int64: number-when-safe/],
  [
    '64-bit integers as Int',
    grpc(),
    grpc({ int64: 'number-when-safe', rename: { Long: 'Int' } }),
    /grpc.a.rename: \{ Long: Int \}/,
  ],
  ['UInt32 as Int', grpc(), grpc({ rename: { UInt32: 'Int' } }), /rename: \{ UInt32: Int \}/],
  ['bytes as String', grpc(), grpc({ rename: { Bytes: 'String' } }), /rename: \{ Bytes: String \}/],
  ['bytes as uploads', grpc(), grpc({ uploads: true }), /grpc.a.uploads: true/],
  ['maps as JSON', grpc(), grpc({ maps: 'json' }), /grpc.a.maps: json/],
  ['a oneof as a union', grpc(), grpc({ oneofs: 'union' }), /grpc.a.oneofs: union/],
  ['values without their prefix', grpc(), grpc({ stripEnumPrefix: true }), /grpc.a.stripEnumPrefix: true/],
  ['no unspecified value', grpc(), grpc({ hideUnspecified: true }), /grpc.a.hideUnspecified: true/],
  ['names with the package', grpc(), grpc({ typeNaming: 'qualified' }), /grpc.a.typeNaming: qualified/],
  ['methods that nothing exposes', grpc({ expose: ['a.Things.Save'] }), grpc(), /grpc.a.expose: all/],
  [
    'a method that reads',
    grpc(),
    grpc({ methods: { 'a.Things.findThing': { schema: { type: 'QUERY' } } } }),
    /methods: \{ a.Things.findThing: \{ schema: \{ type: QUERY \} \} \}/,
  ],
  [
    'a method that reads, by another name',
    grpc(),
    grpc({ methods: { 'a.Things.findThing': { schema: { type: 'QUERY', name: 'find_thing' } } } }),
    /schema: \{ type: QUERY \} \} \} and grpc.a.methods: \{ a.Things.findThing: \{ schema: \{ name: find_thing/,
  ],
  [
    'a request as one argument',
    grpc(),
    grpc({ methods: { 'a.Things.GetThing': { schema: { request: { name: 'input' } } } } }),
    /schema: \{ request: \{ name: input \}/,
  ],
  [
    'a response as one of its fields',
    grpc(),
    grpc({ methods: { 'a.Things.ListThings': { schema: { response: { pluck: 'things' } } } } }),
    /schema: \{ response: \{ pluck: things \}/,
  ],
  [
    'a response that is always there',
    grpc(),
    grpc({ methods: { 'a.Things.GetThing': { schema: { response: { required: true } } } } }),
    /schema: \{ response: \{ required: true \}/,
  ],
  [
    'a field that is always there',
    grpc(),
    grpc({ fields: { 'a.Thing.thing_id': { required: true } } }),
    /grpc.a.fields: \{ a.Thing.thing_id: \{ required: true \} \}/,
  ],
  [
    'a default of an input field',
    grpc({ methods: { 'a.Things.Save': { schema: { request: { name: 'thing' } } } } }),
    grpc({
      methods: { 'a.Things.Save': { schema: { request: { name: 'thing' } } } },
      fields: { 'a.Thing.count': { default: '5' } },
    }),
    /grpc.a.fields: \{ a.Thing.count: \{ default: '5' \} \}/,
  ],
  [
    'types of another name',
    grpc(),
    grpc({ typeNames: { 'a.Thing': 'Item' } }),
    /grpc.a.rename: \{ Thing: Item \}/,
  ],
  ['integers as Int', openapi(), openapi({ integers: 'int' }), /openapi: \{ integers: int \}/],
  [
    'what is required as non-null',
    openapi(),
    openapi({ trustRequired: true }),
    /openapi: \{ trustRequired: true \}/,
  ],
  [
    'an operation that reads',
    openapi(),
    openapi({ asQuery: ['findPets'] }),
    /openapi: \{ asQuery: \[POST \/pets\] \}/,
  ],
  ['headers of answers', openapi(), openapi({ headers: true }), /openapi: \{ headers: true \}/],
  [
    '64-bit numbers as Int, of REST',
    rest(),
    rest({}, { rename: { Long: 'Int' } }),
    /rest.shop.rename: \{ Long: Int \}/,
  ],
  ['an endpoint that reads', rest(), rest({ asQuery: true }), /rest.shop.endpoints\[0\].asQuery: true/],
  [
    'an endpoint that reads, by another name',
    rest(),
    rest({ asQuery: true, name: 'find_thing' }),
    /endpoints\[0\].asQuery: true and rest.shop.rename: \{ Query.findThing: find_thing \}/,
  ],
  [
    'a result that is always there',
    rest(),
    rest({ returnType: 'Thing!' }),
    /endpoints\[0\].returnType: Thing!/,
  ],
  [
    'an argument that may be left out',
    rest({ args: { a: 'Int!' }, queryParams: { a: '{a}' } }),
    rest({ args: { a: 'Int' }, queryParams: { a: '{a}' } }),
    /endpoints\[0\].args.a: Int/,
  ],
  [
    'a default of an argument',
    rest({ args: { a: 'Int = 5' }, queryParams: { a: '{a}' } }),
    rest({ args: { a: 'Int = 10' }, queryParams: { a: '{a}' } }),
    /endpoints\[0\].args.a: Int = 10/,
  ],
  [
    'a field of a type that is always there',
    rest(),
    (sdl) => sdl.replace('title: String', 'title: String!'),
    /rest.shop.types.Thing.fields.title.type: String!/,
  ],
  [
    'a field of a type that was a Float',
    rest(),
    (sdl) => sdl.replace('rank: Int', 'rank: Float'),
    /rest.shop.types.Thing.fields.rank.type: Float/,
  ],
  [
    'a field of an answer that is always there',
    rest({ returnType: undefined, responseSchema: { typeName: 'A', fields: { v: 'int' } } }),
    (sdl) => sdl.replace('v: Int', 'v: Int!'),
    /endpoints\[0\].responseSchema.fields.v: Int!|endpoints\[0\].responseSchema.fields.v: int!/,
  ],
  [
    'types of another name, of REST',
    rest(),
    rest({}, { rename: { Thing: 'Item' } }),
    /rename: \{ Thing: Item \}/,
  ],
  [
    'a subgraph',
    rest({ asQuery: true }),
    { ...rest({ asQuery: true }), federation: true },
    /federation: true/,
  ],
]

async function folderFor(config: object): Promise<Folder> {
  const backend = await startRestBackend(() => ({ json: {} }))
  onTestFinished(() => backend.stop())
  const folder = await emptyFolder()
  await writeFile(join(folder.directory, 'a.proto'), PROTO)
  await writeFile(join(folder.directory, 'api.json'), JSON.stringify(OPENAPI))
  await writeFile(
    join(folder.directory, 'gateway.config.yaml'),
    stringify(config).replaceAll('BACKEND', backend.url),
  )
  return folder
}

/** Puts a setting into a config as a person does who reads its line. */
function apply(config: unknown, line: string): unknown {
  const [, path = '', value = ''] = /^([^:]+): (.*)$/.exec(line) ?? []
  const parts = path
    .split(/\.|\[(?=\d)/)
    .map((part) => (/^\d+\]$/.test(part) ? Number.parseInt(part, 10) : part))
  return merge(
    config,
    parts.reduceRight((inside: unknown, part) => new Map([[part, inside]]), parse(value)),
  )
}

function merge(base: unknown, over: unknown): unknown {
  const entries: [string | number, unknown][] =
    over instanceof Map ? [...over] : isPlainObject(over) ? Object.entries(over) : []
  if (entries.length === 0) return over
  if (Array.isArray(base))
    return base.map((one: unknown, at) =>
      entries.reduce((now, [key, value]) => (key === at ? merge(now, value) : now), one),
    )
  const known = isPlainObject(base) ? base : {}
  return { ...known, ...Object.fromEntries(entries.map(([key, value]) => [key, merge(known[key], value)])) }
}

const against = (folder: Folder): string[] =>
  folder.out
    .splice(0)
    .filter((line) => /^(against|breaking|dangerous|suggested|remaining|values) /.test(line))

it.each(table)(
  '%s is given back by the setting that is named',
  async (_, now, old, setting) => {
    const folder = await folderFor(now)
    const silent = await createLogger({ level: 'silent' })
    const given = (typeof old === 'function' ? now : old) as GatewayConfig
    const text = JSON.stringify(given).replaceAll('BACKEND', 'http://127.0.0.1:1')
    const gateway = await createGateway(JSON.parse(text) as GatewayConfig, {
      baseDirectory: folder.directory,
      logger: silent,
    })
    await gateway.close()
    const sdl = printSchema(gateway.schema)
    await writeFile(join(folder.directory, 'old.graphql'), typeof old === 'function' ? old(sdl) : sdl)
    await folder.command('check', '--against', 'old.graphql')
    const told = against(folder)
    expect([told.some((line) => setting.test(line)), told]).toEqual([true, told])
    const named = told.flatMap((line) => /(?:; set |^suggested +)(.*)/.exec(line)?.[1]?.split(' and ') ?? [])
    const file = join(folder.directory, 'gateway.config.yaml')
    const mended = [...new Set(named)].reduce(apply, parse(await readFile(file, 'utf8')) as unknown)
    await writeFile(file, stringify(mended))
    await folder.command('check', '--against', 'old.graphql')
    expect([against(folder), told]).toEqual([['against  0 breaking, 0 dangerous'], told])
  },
  60_000,
)

/** Schemas of 64-bit integers, and what is said of their values. */
const values: readonly (readonly [name: string, now: object, old: string, line: RegExp | undefined])[] = [
  [
    'of another gateway',
    rest({ asQuery: true }),
    'scalar Long',
    /^values +Long is .*set rest.shop.int64: number-when-safe$/,
  ],
  [
    'of another gateway under another name',
    rest({ asQuery: true }),
    'scalar BigInt',
    /^values +BigInt is .*set rest.shop.int64: number-when-safe$/,
  ],
  [
    'that we sent as numbers',
    rest({ asQuery: true }),
    '"A signed 64-bit integer, written as a number if that is exact, otherwise as a string." scalar Long',
    /set rest.shop.int64: number-when-safe$/,
  ],
  [
    'that we sent as text',
    rest({ asQuery: true }),
    '"A signed 64-bit integer, written as a string so that clients do not round it." scalar Long',
    undefined,
  ],
  [
    'of gRPC, of another gateway',
    grpc(),
    'scalar BigInt',
    /set grpc.a.int64: number-when-safe and .*Long: BigInt \}$/,
  ],
]

it.each(values)(
  '64-bit integers %s: what the schema does not tell is said',
  async (_, now, scalar, line) => {
    const folder = await folderFor(now)
    const name = scalar.split(' ').at(-1) ?? ''
    const field = 'grpc' in now ? 'getThing' : 'findThing'
    const old = `type Query { ${field}: Thing } type Thing { size: ${name} } ${scalar}`
    await writeFile(join(folder.directory, 'old.graphql'), old)
    await folder.command('check', '--against', 'old.graphql')
    const told = against(folder)
    const said = told.filter((one) => one.startsWith('values')).map((one) => line?.test(one))
    expect(said).toEqual(line ? [true] : [])
    const file = join(folder.directory, 'gateway.config.yaml')
    const named = told.flatMap((one) => /(?:[;,] set |^suggested +)(.*)/.exec(one)?.[1]?.split(' and ') ?? [])
    const mended = [...new Set(named)].reduce(apply, parse(await readFile(file, 'utf8')) as unknown)
    await writeFile(file, stringify(mended))
    await folder.command('check', '--against', 'old.graphql')
    expect(against(folder).filter((one) => !one.startsWith('dangerous'))).toEqual([
      expect.stringMatching(/^against  0 breaking/),
    ])
  },
  60_000,
)
