import type { FileRegistry } from '@bufbuild/protobuf'

/** A text that protoc compiles. */
export interface Accepted {
  readonly what: string
  readonly text: string
  /** What its registry has. */
  readonly has?: (registry: FileRegistry) => unknown
  /** Files beside it. */
  readonly beside?: Readonly<Record<string, string>>
}

const P2 = 'syntax = "proto2";\n'
const P3 = 'syntax = "proto3";\n'
const E23 = 'edition = "2023";\n'

const fieldsOf =
  (message: string) =>
  (registry: FileRegistry): readonly string[] | undefined =>
    registry.getMessage(message)?.fields.map(({ name, message: type }) => `${name} ${type?.typeName ?? ''}`)

const NUMBERS: readonly Accepted[] = [
  {
    what: 'reserved numbers past the largest of a field',
    text: `${P3}message A { reserved 1000 to 1000000000, 2147483646; string a = 1; }`,
  },
  {
    what: 'a MessageSet with its numbers',
    text: `${P2}message S { option message_set_wire_format = true; extensions 4 to max; } message M {} extend S { optional M m = 600000000; optional M n = 2147483646; }`,
    has: (registry) => registry.getExtension('n')?.number,
  },
  {
    what: 'a MessageSet that says so behind its numbers',
    text: `${P2}message S { extensions 4 to 7, 600000000 to max; option message_set_wire_format = true; } message M {} extend S { optional M m = 600000000; }`,
  },
]

const NAMES: readonly Accepted[] = [
  {
    what: 'JSON names that only one of three wrote, in proto2',
    text: `${P2}message A { optional int32 x = 1; optional int32 b = 2 [json_name = "x"]; optional int32 c = 3 [json_name = "x"]; }`,
  },
  {
    what: 'fields of types export and local',
    text: `${P3}message export {} message local { enum E { Z = 0; } } message A { export message = 1; local enum = 2; int32 local = 3; }`,
    has: fieldsOf('A'),
  },
  {
    what: 'a package behind its messages',
    text: `${P3}message A { string package = 1; } message B { A a = 1; } package p.q; message C { p.q.A a = 1; }`,
    has: fieldsOf('p.q.B'),
  },
]

const GROUPS: readonly Accepted[] = [
  {
    what: 'a group in extend, outside of messages',
    text: `${P2}package p; message A { extensions 5 to 9; } extend A { optional group Gr = 5 { optional A a = 1; } }`,
    has: fieldsOf('p.Gr'),
  },
]

const IMPORTS: readonly Accepted[] = [
  {
    what: 'what imports import for those who import them, over several files',
    text: `${P3}import "all.proto"; message O { shop.User u = 1; shop.Home h = 2; }`,
    has: fieldsOf('O'),
    beside: {
      'all.proto': `${P3}import "own.proto"; import public "users.proto"; message All { Own own = 1; shop.Home h = 2; }`,
      'own.proto': `${P3}message Own {}`,
      'users.proto': `${P3}package shop; import public "homes.proto"; message User { Home home = 1; }`,
      'homes.proto': `${P3}package shop; message Home {}`,
    },
  },
]

const NEWER_ROWS: readonly Accepted[] = [
  {
    what: 'fields of one JSON name where the file has no rules for JSON',
    text: `${E23}option features.json_format = LEGACY_BEST_EFFORT; message A { string foo_bar = 1; string fooBar = 2; }`,
  },
  {
    what: 'fields of one JSON name where a message around them has no rules for JSON',
    text: `${E23}message A { option features.json_format = LEGACY_BEST_EFFORT; message B { option features.enum_type = CLOSED; string foo_bar = 1; string fooBar = 2; } }`,
  },
  {
    what: 'export and local before declarations',
    text: 'edition = "2024"; export message A { local enum E { Z = 0; } int32 local = 1; }',
    has: fieldsOf('A'),
  },
]

/** What protoc compiles since 2023 alone. */
export const NEWER = 'newer compilers'

/** By kind. */
export const ACCEPTED: Readonly<Record<string, readonly Accepted[]>> = {
  'the numbers of fields': NUMBERS,
  names: NAMES,
  groups: GROUPS,
  imports: IMPORTS,
  [NEWER]: NEWER_ROWS,
}
