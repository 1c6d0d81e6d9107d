import { createDisposables, grpcError, startGrpcBackend, startRestBackend } from '@vinyasa/test-kit'
import { afterAll, describe, expect, it } from 'vitest'
import { createGateway } from '../../apps/gateway/src/gateway.ts'
import { createLogger } from '../../apps/gateway/src/logging/logger.ts'
import { serve } from '../../apps/gateway/src/server.ts'

// A failure upstream reads the same whatever kind of argument was sent, written in the query or given as a variable, at first
// sight and when the document is known.

const PROTO = `syntax = "proto3"; package f;
import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto"; import "google/protobuf/struct.proto";
import "google/protobuf/wrappers.proto"; import "google/protobuf/field_mask.proto";
service F { rpc GetF(Asked) returns (Got); }
enum Kind { NONE = 0; SOME = 1; }
message Inner { string text = 1; repeated Inner more = 2; }
message Got { string text = 1; }
message Asked {
  string text = 1; int32 int = 2; int64 long = 3; double float = 4; bool flag = 5; bytes data = 6; Kind kind = 7;
  repeated string texts = 8; map<string, int32> map = 9; Inner inner = 10; repeated Inner inners = 11;
  oneof choice { string left = 12; Inner right = 13; }
  google.protobuf.Timestamp at = 14; google.protobuf.Duration during = 15; google.protobuf.Struct struct = 16;
  google.protobuf.Value value = 17; google.protobuf.StringValue wrapped = 18; google.protobuf.FieldMask mask = 19;
}`

/** By argument: its value in a query, and as a variable. */
const GRPC: Readonly<Record<string, readonly [literal: string, variable: unknown]>> = {
  text: ['"a"', 'a'],
  int: ['7', 7],
  long: ['"9007199254740993"', '9007199254740993'],
  float: ['1.5', 1.5],
  flag: ['true', true],
  data: ['"AP8="', 'AP8='],
  kind: ['SOME', 'SOME'],
  texts: ['["a", "b"]', ['a', 'b']],
  map: ['[{ key: "a", value: 1 }]', [{ key: 'a', value: 1 }]],
  inner: ['{ text: "a", more: [{ text: "b" }] }', { text: 'a', more: [{ text: 'b' }] }],
  inners: ['[{ text: "a" }, {}]', [{ text: 'a' }, {}]],
  choice: ['{ right: { text: "a" } }', { right: { text: 'a' } }],
  at: ['"2026-01-02T03:04:05Z"', '2026-01-02T03:04:05Z'],
  during: ['"1.5s"', '1.5s'],
  struct: ['{ a: { b: [1, null] } }', { a: { b: [1, null] } }],
  value: ['[{ a: true }]', [{ a: true }]],
  wrapped: ['"a"', 'a'],
  mask: ['"text,inner"', 'text,inner'],
}
const REST_TYPES: Readonly<Record<string, string>> = {
  text: 'String',
  int: 'Int',
  long: 'Long',
  float: 'Float',
  flag: 'Boolean',
  kind: 'Kind',
  texts: '[String!]',
  inner: 'InnerInput',
  inners: '[InnerInput!]',
  struct: 'JSON',
  value: 'JSON',
}
/** They have no form in a query string, and are refused before anything is sent. */
const OBJECTS = { inner: true, inners: true, struct: true, value: true }

const ofRest = (field: string, url: string, method: string): object => ({
  message: `REST endpoint "${field}" responded with status 422.`,
  extensions: {
    code: 'BAD_USER_INPUT',
    status: 422,
    connector: 'r',
    endpoint: field,
    attempts: 1,
    upstream: { method, url, body: '{"told":"by REST"}' },
  },
})
const cleanup = createDisposables(afterAll)
const grpc = cleanup.use(
  await startGrpcBackend({
    protos: PROTO,
    handlers: {
      'f.F/GetF': () => {
        throw grpcError(3, 'told by gRPC')
      },
    },
  }),
)
const rest = cleanup.use(await startRestBackend(() => ({ status: 422, json: { told: 'by REST' } })))

/** With `exposeErrors`. */
const TOLD: Readonly<Record<string, object>> = {
  getF: {
    message: 'told by gRPC',
    extensions: { code: 'BAD_USER_INPUT', grpc: { status: 'INVALID_ARGUMENT' } },
  },
  asBody: ofRest('asBody', `${rest.url}/body`, 'POST'),
  asQuery: ofRest('asQuery', `${rest.url}/query`, 'GET'),
}
/** Without. */
const ofAnyRest = {
  message: 'The upstream responded with status 422.',
  extensions: { code: 'BAD_USER_INPUT', status: 422 },
}
const SAID: Readonly<Record<string, object>> = {
  getF: {
    message: 'The service rejected an argument',
    extensions: { code: 'BAD_USER_INPUT', grpc: { status: 'INVALID_ARGUMENT' } },
  },
  asBody: ofAnyRest,
  asQuery: ofAnyRest,
}

async function start(exposeErrors: boolean) {
  const common = { args: REST_TYPES, returnType: 'String' }
  const gateway = await createGateway(
    {
      log: { level: 'silent' },
      grpc: {
        f: {
          endpoint: grpc.address,
          protoText: { 'f.proto': PROTO },
          expose: 'all',
          exposeErrors,
          retry: { maxRetries: 0 },
        },
      },
      rest: {
        r: {
          baseUrl: rest.url,
          noRetry: true,
          exposeErrors,
          types: {
            Kind: { kind: 'enum', values: { NONE: 0, SOME: 1 } },
            InnerInput: {
              kind: 'input',
              fields: { text: { type: 'String' }, more: { type: '[InnerInput!]' } },
            },
          },
          endpoints: [
            { ...common, name: 'asBody', method: 'POST', path: '/body' },
            {
              ...common,
              name: 'asQuery',
              path: '/query',
              queryParams: Object.fromEntries(Object.keys(REST_TYPES).map((name) => [name, `{${name}}`])),
            },
          ],
        },
      },
    } as never,
    { baseDirectory: import.meta.dirname, logger: await createLogger({ level: 'silent' }) },
  )
  const server = await serve(gateway, { port: 0 })
  cleanup.use({ [Symbol.asyncDispose]: () => server.close({ graceMs: 100 }) })
  return server.url
}

describe.each([true, false])('exposeErrors: %s', (exposeErrors) => {
  const url = start(exposeErrors)

  async function errorsOf(query: string, variables?: object): Promise<any> {
    const response = await fetch(`${await url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    return ((await response.json()) as { errors: unknown }).errors
  }

  const cells = [
    ...Object.keys(GRPC).map((name) => ['getF', name, '{ text }', 'query'] as const),
    ...Object.keys(REST_TYPES).map((name) => ['asBody', name, '', 'mutation'] as const),
    ...Object.keys(REST_TYPES)
      .filter((name) => !(name in OBJECTS))
      .map((name) => ['asQuery', name, '', 'query'] as const),
  ]
  it.each(cells)('%s(%s:)', async (field, name, below, kind) => {
    const [literal, variable] = GRPC[name]!
    const type = await typeOf(field, name, kind)
    const expected = exposeErrors ? TOLD[field] : SAID[field]
    // New, known, and known by its shape.
    for (let time = 0; time < 3; time++) {
      for (const [query, variables] of [
        [`${kind} { ${field}(${name}: ${literal}) ${below} }`, undefined],
        [`${kind} ($v: ${type}) { ${field}(${name}: $v) ${below} }`, { v: variable }],
      ] as const) {
        const errors = await errorsOf(query, variables)
        expect(errors).toEqual([
          { ...expected, path: [field], locations: [{ line: 1, column: query.indexOf(field) + 1 }] },
        ])
      }
    }
  })

  async function typeOf(field: string, argument: string, kind: string): Promise<string> {
    if (field !== 'getF') return REST_TYPES[argument]!
    const text = `{ __type(name: "${kind === 'query' ? 'Query' : 'Mutation'}") { fields { name args { name type { ...T } } } } }
      fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }`
    const response = await fetch(`${await url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: text }),
    })
    const { data } = (await response.json()) as any
    const write = ({ kind: of, name, ofType }: any): string =>
      of === 'NON_NULL' ? `${write(ofType)}!` : of === 'LIST' ? `[${write(ofType)}]` : name
    const { args } = data.__type.fields.find(({ name }: any) => name === field)
    return write(args.find(({ name }: any) => name === argument).type)
  }
})
