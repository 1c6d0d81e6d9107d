/** Files that configs with a mistake name. */
export const PROTO = `syntax = "proto3"; package p;
service Users { rpc GetUser(Id) returns (User); }
message Id { string id = 1; } message User { string id = 1; }`
export const SOURCE = `grpc:
  users:
    endpoint: 127.0.0.1:1
    protoFiles: [users.proto]
    expose: all
`
export const REST = `rest:
  shop:
    baseUrl: http://localhost:1
    endpoints:
      - { name: a, path: /a }
`
const NATS = `${SOURCE}nats: { servers: 'nats://127.0.0.1:1'`
const REDIS = `${SOURCE}redis: { url: 'rediss://127.0.0.1:1'`

const block = (sdl: string): string => `${SOURCE}typeDefs: |\n  ${sdl.replaceAll('\n', '\n  ')}\n`

/** A config with a mistake, which begins behind the §, and what is told of it. */
export type MistakenConfig = readonly [name: string, config: string, text: RegExp]

/** Mistakes in type definitions, resolvers, a subgraph, brokers, certificates, and where sources do not fit together. */
export const MISTAKES_OF_PARTS: readonly MistakenConfig[] = [
  ['SDL that ends no line', block('extend type User {\n  age: Int\n  more §String\n}'), /Expected ":"/],
  [
    'a type that SDL does not have',
    block('extend type User {\n  age: Int\n  more: §Strng\n}'),
    /Unknown type/,
  ],
  [
    'the same in folded text',
    `${SOURCE}typeDefs: >-\n  extend type User {\n    b: §Strng\n  }\n`,
    /Unknown type/,
  ],
  ['the same in quotes', `${SOURCE}typeDefs: "extend type User {\\n \\"a\\" b: §Strng }"\n`, /Unknown type/],
  [
    'the same in single quotes',
    `${SOURCE}typeDefs: 'extend type User { "it''s" b: §Strng }'\n`,
    /Unknown type/,
  ],
  ['the same in plain text', `${SOURCE}typeDefs: extend type User {\n  b §Strng }\n`, /Expected ":"/],
  [
    'the same in the second of two texts',
    `${SOURCE}typeDefs:\n  - 'extend type User { a: Int }'\n  - |2\n     extend type User {\n       b: §Strng\n     }\n`,
    /typeDefs\[1\].*Unknown type/,
  ],
  ['a directive that is not there', block('extend type User {\n  age: Int §@nope\n}'), /Unknown directive/],
  [
    'a field that is there twice',
    block('extend type User {\n  §age: Int\n  age: Int\n}'),
    /only be defined once/,
  ],
  ['a field that a source has', block('extend type User {\n  §id: ID\n}'), /already exists/],
  ['a type to extend that is not there', block('extend type §Usr { a: Int }'), /Cannot extend type "Usr"/],
  ['an argument of an output type', block('extend type User {\n  a(b: §User): Int\n}'), /must be Input Type/],
  ['a cost that is no number', block('extend type User {\n  a: Int @cost(weight: §x)\n}'), /invalid value x/],
  [
    'a file in place of SDL',
    `${SOURCE}§typeDefs: schema.graphql\n`,
    /is a file name; expected type definitions/,
  ],
  ['SDL of another kind', `${SOURCE}typeDefs: §5\n`, /expected string/],
  [
    'a resolver of no field',
    `${SOURCE}resolvers: { User: { §age: x } }\n`,
    /User has no such field; define it/,
  ],
  [
    'a resolver of no type',
    `${SOURCE}resolvers: { §Usr: { id: x } }\n`,
    /no such type; .* did you mean "User"/,
  ],
  ['resolvers that are a file', `${SOURCE}resolvers: §./resolvers.js\n`, /expected resolvers/],
  [
    'an entity that is not there',
    `${SOURCE}federation: { entities: { §Usr: { key: id } } }\n`,
    /did you mean "User"/,
  ],
  [
    'a key that is not there',
    `${SOURCE}federation: { entities: { User: { §key: ids } } }\n`,
    /selects User.ids/,
  ],
  ['a second key', `${SOURCE}federation: { entities: { User: { key: [id, §ids] } } }\n`, /selects User.ids/],
  [
    'a key that is none',
    `${SOURCE}federation: { entities: { User: { §key: 'id {' } } }\n`,
    /not a valid field selection/,
  ],
  [
    'a lookup that is not there',
    `${SOURCE}federation: { entities: { User: { key: id, §field: getUsr } } }\n`,
    /did you mean "getUser"/,
  ],
  [
    'an argument of a lookup',
    `${SOURCE}federation: { entities: { User: { key: id, field: getUser, §args: { ids: id } } } }\n`,
    /has no argument "ids"/,
  ],
  [
    'a key of items where there are none',
    `${SOURCE}federation: { entities: { User: { key: id, field: getUser, §itemKey: id } } }\n`,
    /itemKey requires a field that returns a list/,
  ],
  [
    'a key in SDL',
    `${SOURCE}federation: true\ntypeDefs: |\n  extend type User §@key(fields: "ids")\n`,
    /User @key: the key "ids"/,
  ],
  ['an address of NATS', `${SOURCE}nats: { §servers: localhost }\n`, /not a valid server address/],
  [
    'the second of NATS',
    `${SOURCE}nats: { servers: ['nats://a:1', §http://b] }\n`,
    /not a valid server address/,
  ],
  ['a NATS that is not there', `${SOURCE}nats: { §servers: 'nats://127.0.0.1:1' }\n`, /cannot connect/],
  [
    'a user without a password',
    `${SOURCE}nats: §{ servers: 'nats://127.0.0.1:1', user: a }\n`,
    /must be set together/,
  ],
  [
    'a token beside a user',
    `${NATS}, user: a, password: b, token: §c }\n`,
    /either user and password, or token/,
  ],
  ['a CA of NATS', `${NATS}, tls: { §ca: gone.pem } }\n`, /cannot read "gone.pem" \(ENOENT: no such file/],
  ['an address of Redis', `${SOURCE}§redisUrl: localhost:6379\n`, /not a valid Redis URL/],
  ['a Redis that is not there', `${SOURCE}§redisUrl: redis://127.0.0.1:1\n`, /cannot connect/],
  ['two addresses of Redis', `${REDIS} }\n§redisUrl: redis://127.0.0.1:1\n`, /redis is also set/],
  ['a sentinel', `${SOURCE}redis: { name: a, sentinels: ['a:1', §redis://b] }\n`, /expected host:port/],
  ['a node of a cluster', `${SOURCE}redis: { cluster: [§redis://a] }\n`, /expected host:port/],
  [
    'a database of a cluster',
    `${SOURCE}redis: { cluster: ['a:1'], db: §1 }\n`,
    /cluster has only database 0/,
  ],
  ['a CA of Redis', `${REDIS}, tls: { §ca: gone.pem } }\n`, /cannot read "gone.pem" \(ENOENT: no such file/],
  ['a CA that is a folder', `${REDIS}, tls: { §ca: . } }\n`, /cannot read "." \(EISDIR: /],
  ['a CA that is none', `${REDIS}, tls: { §ca: users.proto } }\n`, /contains no certificate/],
  [
    'a key of another certificate',
    `${REDIS}, tls: { cert: cert.pem, §key: other.pem } }\n`,
    /cannot be used together/,
  ],
  [
    'a certificate for a key',
    `${REDIS}, tls: { cert: cert.pem, §key: cert.pem } }\n`,
    /contains no private key/,
  ],
  [
    'a certificate without a key',
    `${REDIS}, tls: { §cert: cert.pem } }\n`,
    /cert and key must be set together; set key/,
  ],
  [
    'a key without a certificate',
    `${SOURCE}    tls: { §key: key.pem }\n`,
    /cert and key must be set together; set cert/,
  ],
  ['a CA of gRPC', `${SOURCE}    tls: { §ca: gone.pem }\n`, /cannot read "gone.pem" \(ENOENT: no such file/],
  [
    'a text that is no CA',
    `${SOURCE}    tls: { §ca: '-----BEGIN NOTHING-----' }\n`,
    /the text contains no certificate/,
  ],
  ['a key of gRPC', `${SOURCE}    tls: { cert: cert.pem, §key: other.pem }\n`, /cannot be used together/],
  [
    'a CA of an endpoint',
    SOURCE.replace('endpoint: 127.0.0.1:1', "endpoint: { address: 'a:1', tls: { §ca: gone.pem } }"),
    /cannot read "gone.pem"/,
  ],
  [
    "a CA of a service's endpoint",
    `${SOURCE}    endpoints: { p.Users: { address: 'a:1', tls: { §ca: gone.pem } } }\n`,
    /cannot read "gone.pem"/,
  ],
  ['a folder of imports', `${SOURCE}    includePaths: [., §gone]\n`, /folder "gone" does not exist/],
  [
    'a descriptor set',
    SOURCE.replace('protoFiles: [users.proto]', '§descriptorSet: users.proto'),
    /cannot be read as a FileDescriptorSet/,
  ],
  ['methods that nothing exposes', SOURCE.replace('expose: all', "§expose: ['x.*']"), /no method is exposed/],
  ['a header to pass on to gRPC', `${SOURCE}    forwardHeaders: [§a b]\n`, /expected the name of a header/],
  [
    'a kind of type',
    `${REST}    types: { T: { kind: §objct, fields: {} } }\n`,
    /expected one of "object"\|"union"\|"interface"/,
  ],
  [
    'a type of an answer',
    `${REST}      - §{ name: b, path: /b, returnType: Prodct }\n`,
    /needs Prodct, which is not defined/,
  ],
  [
    'a type that a field is joined to',
    `${REST}      - §{ name: b, path: '/b/{id}', on: { type: Nope, field: b, args: { id: '{id}' } } }\n`,
    /needs Nope, which is not defined/,
  ],
  ['a field of two sources', `${SOURCE}${REST}      - §{ name: getUser, path: /u }\n`, /is defined twice/],
  [
    'a field of two endpoints',
    `${REST}  other: { baseUrl: 'http://localhost:1', endpoints: [{ name: b, path: /b }, §{ name: a, path: /a }] }\n`,
    /is defined twice/,
  ],
  ['registered documents', `${SOURCE}persistedDocuments: { from: [§gone.json] }\n`, /gone.json: ENOENT/],
]
