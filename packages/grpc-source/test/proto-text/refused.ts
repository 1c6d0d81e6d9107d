/** A text that protoc refuses. `▲` stands before the place of the fault. */
export interface Refused {
  readonly what: string
  readonly text: string
  /** A part of the message. */
  readonly says: string
  /** Files beside it. */
  readonly beside?: Readonly<Record<string, string>>
}

const P2 = 'syntax = "proto2";\n'
const P3 = 'syntax = "proto3";\n'
const E23 = 'edition = "2023";\n'

type Row = readonly [what: string, text: string, says: string, beside?: Readonly<Record<string, string>>]

function rows(...all: readonly Row[]): readonly Refused[] {
  return all.map(([what, text, says, beside = {}]) => ({ what, text, says, beside }))
}

const NUMBERS = rows(
  [
    'two fields of one number',
    `${P3}message A {\n  string a = 1;\n  int32 b = ▲1;\n}`,
    'A.b has the number 1, which is also used by A.a',
  ],
  [
    'a field of a oneof with the number of another',
    `${P3}message A { string a = 1; oneof o { int32 b = ▲1; } }`,
    'the number 1',
  ],
  [
    'a map with the number of another',
    `${P3}message A { string a = 1; map<string, string> b = ▲1; }`,
    'the number 1',
  ],
  [
    'a group with the number of another',
    `${P2}message A { optional string a = 1; optional group B = ▲1 {} }`,
    'the number 1',
  ],
  [
    'zero',
    `${P3}message A { string a = ▲0; }`,
    'A.a has the number 0; fields must have numbers from 1 to 536870911',
  ],
  ['a negative number', `${P3}message A { string a = ▲-1; }`, "expected the field's number"],
  [
    'a number past the largest',
    `${P3}message A { string a = ▲536870912; }`,
    'A.a has the number 536870912; fields must have',
  ],
  ['a number past 32 bits', `${P3}message A { string a = ▲4294967297; }`, 'the number 4294967297'],
  ["the first of protobuf's own numbers", `${P3}message A { string a = ▲19000; }`, '19000 to 19999'],
  ['the last of them', `${P3}message A { string a = ▲19999; }`, '19000 to 19999'],
  [
    'a reserved number',
    `${P3}message A { reserved 2, 4 to 6; string a = ▲5; }`,
    'A.a has the number 5, which is reserved by A (4 to 6)',
  ],
  [
    'a number reserved to the end',
    `${P3}message A { reserved 9 to max; string a = ▲12; }`,
    'which is reserved by A (9 to max)',
  ],
  [
    'a reserved number, said behind it',
    `${P3}message A { string a = ▲5; reserved 5; }`,
    'which is reserved by A (5)',
  ],
  [
    'a reserved name',
    `${P3}message A { reserved "a", "b"; string ▲b = 1; }`,
    'the name of A.b is reserved by A',
  ],
  ['a name reserved twice', `${P3}message A { reserved "a", ▲"a"; }`, 'reserves the name "a" twice'],
  [
    'reserved ranges that overlap',
    `${P3}message A { reserved 1 to 5, ▲4 to 6; }`,
    'A has the reserved range 4 to 6, which overlaps with the reserved range 1 to 5',
  ],
  ['a reserved zero', `${P3}message A { reserved ▲0; }`, 'numbers must be from 1 to 2147483646'],
  ['a reserved number past 32 bits', `${P3}message A { reserved ▲2147483648; }`, 'from 1 to 2147483646'],
  [
    'an extension range past the largest number',
    `${P2}message A { extensions ▲5 to 536870912; }`,
    'numbers must be from 1 to 536870911',
  ],
  [
    'an extension past the largest number of all but MessageSets',
    `${P2}message A { extensions 5 to max; } extend A { optional A a = ▲600000000; }`,
    'A only declares 5 to 536870911 for extensions',
  ],
  [
    "an extension past a MessageSet's largest number",
    `${P2}message A { option message_set_wire_format = true; extensions 5 to max; } extend A { optional A a = ▲2147483647; }`,
    'extensions must have numbers from 1 to 2147483646',
  ],
  [
    'a field inside of an extension range',
    `${P2}message A { extensions 5 to 9; optional string a = ▲7; }`,
    'is declared for extensions by A (5 to 9)',
  ],
  [
    'extension ranges that overlap',
    `${P2}message A { extensions 5 to 9; extensions ▲9 to 12; }`,
    'overlaps with the extension range 5 to 9',
  ],
  [
    'an extension range over a reserved one',
    `${P2}message A { reserved 5 to 9; extensions ▲9 to 12; }`,
    'the extension range 9 to 12, which overlaps with the reserved range 5 to 9',
  ],
  ['an extension range of zero', `${P2}message A { extensions ▲0; }`, 'numbers must be from 1 to 536870911'],
  ['an extension range backwards', `${P2}message A { extensions ▲9 to 5; }`, 'ends before it starts'],
  [
    'an extension outside of the ranges',
    `${P2}message A { extensions 5 to 9; } extend A { optional string a = ▲10; }`,
    'A only declares 5 to 9 for extensions',
  ],
  [
    'an extension of a message without ranges',
    `${P2}message A {} extend A { optional string a = ▲10; }`,
    'A declares no numbers for extensions',
  ],
  [
    'two extensions of one number',
    `${P2}message A { extensions 5 to 9; } extend A { optional string a = 5; optional string b = ▲5; }`,
    'which is also used by the extension a',
  ],
)

const NAMES = rows(
  ['two fields of one name', `${P3}message A { string a = 1; int32 ▲a = 2; }`, 'A.a is defined twice'],
  ['two messages of one name', `${P3}message A {}\nmessage ▲A {}`, 'A is defined twice'],
  [
    'a message and an enum of one name',
    `${P3}package p; message A {} enum ▲A { Z = 0; }`,
    'p.A is defined twice',
  ],
  ['two services of one name', `${P3}service A {} service ▲A {}`, 'A is defined twice'],
  ['a service and a message of one name', `${P3}message A {} service ▲A {}`, 'A is defined twice'],
  [
    'two methods of one name',
    `${P3}message A {} service S { rpc Get(A) returns (A); rpc ▲Get(A) returns (A); }`,
    'S.Get is defined twice',
  ],
  ['two values of one name', `${P3}enum A { Z = 0; ▲Z = 1; }`, 'is defined twice'],
  [
    'values of one name in two enums of one scope',
    `${P3}enum A { Z = 0; } enum B { ▲Z = 0; }`,
    'enum values must have unique names',
  ],
  [
    'a value and a message of one name',
    `${P3}message M { message Z {} enum B { ▲Z = 0; } }`,
    'M.Z is defined twice',
  ],
  [
    'a field and a oneof of one name',
    `${P3}message A { string a = 1; oneof ▲a { int32 b = 2; } }`,
    'A.a is defined twice',
  ],
  [
    'a field and a message of one name',
    `${P3}message A { message B {} string ▲B = 1; }`,
    'A.B is defined twice',
  ],
  [
    'two oneofs of one name',
    `${P3}message A { oneof o { int32 a = 1; } oneof ▲o { int32 b = 2; } }`,
    'A.o is defined twice',
  ],
  [
    'two extensions of one name',
    `${P2}message A { extensions 5 to 9; } extend A { optional string a = 5; optional int32 ▲a = 6; }`,
    'a is defined twice',
  ],
  [
    "a map beside a message with its entry's name",
    `${P3}message A { message BsEntry {} map<string, string> ▲bs = 1; }`,
    'BsEntry',
  ],
  [
    'two maps with one entry',
    `${P2}message A { map<string, string> bs = 1; map<string, string> ▲_bs = 2; }`,
    'BsEntry',
  ],
  [
    'a name that an imported file has',
    `${P3}import "b.proto"; message ▲A {}`,
    'A is also defined in b.proto',
    { 'b.proto': `${P3}message A {}` },
  ],
  [
    'a name of a file that this one does not see, which it uses',
    `${P3}import "c.proto"; message ▲A {} message B { A a = 1; }`,
    'A is also defined in b.proto; rename one of the definitions, or, if both files are the same, import the file by the same path',
    { 'b.proto': `${P3}message A {}`, 'c.proto': `${P3}import "b.proto";` },
  ],
  [
    'a message with the name of an imported package',
    `${P3}import "b.proto"; message ▲b {}`,
    'b is also the name of a package in b.proto',
    { 'b.proto': `${P3}package b.c; message A {}` },
  ],
  [
    'fields of one JSON name',
    `${P3}message A { string foo_bar = 1; int32 ▲fooBar = 2; }`,
    'the default JSON name "fooBar"',
  ],
)

const PROTO3 = rows(
  ['`required`', `${P3}message A { ▲required string a = 1; }`, 'required'],
  ['a default', `${P3}message A { string a = 1 [▲default = "x"]; }`, 'default'],
  [
    'a first value that is not zero',
    `${P3}enum A { ▲ONE = 1; ZERO = 0; }`,
    'the first value of A is ONE = 1',
  ],
  ['a group', `${P3}message A { ▲group B = 1 {} }`, 'group'],
  ['an extension range', `${P3}message A { extensions ▲5 to 9; }`, 'extensions'],
  [
    'an extension of anything but options',
    `${P3}import "b.proto"; extend A { string ▲a = 5; }`,
    'google.protobuf',
    { 'b.proto': `${P2}message A { extensions 5 to 9; }` },
  ],
  [
    'an enum of proto2 in a field',
    `${P3}import "b.proto"; message M { ▲E a = 1; }`,
    'a proto2 enum',
    { 'b.proto': `${P2}enum E { ONE = 1; }` },
  ],
  [
    'message_set_wire_format',
    `${P3}message ▲A { option message_set_wire_format = true; }`,
    'message_set_wire_format',
  ],
)

const FIELDS = rows(
  ['no label in proto2', `${P2}message A { ▲string a = 1; }`, 'optional, required or repeated'],
  ['no number', `${P3}message A { string a▲; }`, 'expected "="'],
  ['a label in a oneof', `${P3}message A { oneof o { ▲repeated string a = 1; } }`, 'repeated'],
  ['`optional` in a oneof', `${P2}message A { oneof o { ▲optional string a = 1; } }`, 'optional'],
  ['a oneof without fields', `${P3}message A { oneof ▲o {} }`, 'A.o has no field'],
  ['a map in a oneof', `${P3}message A { oneof o { ▲map<string, string> a = 1; } }`, 'map'],
  ['a oneof in a oneof', `${P3}message A { oneof o { oneof p ▲{ string a = 1; } } }`, 'expected "="'],
  ['a map with a label', `${P3}message A { repeated ▲map<string, string> a = 1; }`, 'map'],
  ['a map of floats', `${P3}message A { map<▲float, string> a = 1; }`, 'map<float, …>'],
  ['a map of doubles', `${P3}message A { map<▲double, string> a = 1; }`, 'map<double, …>'],
  ['a map of bytes', `${P3}message A { map<▲bytes, string> a = 1; }`, 'map<bytes, …>'],
  ['a map of messages', `${P3}message K {} message A { map<▲K, string> a = 1; }`, 'map<K, …>'],
  ['a map of enums', `${P3}enum K { Z = 0; } message A { map<▲K, string> a = 1; }`, 'map<K, …>'],
  ['a map to maps', `${P3}message A { map<string, map▲<string, string>> a = 1; }`, 'expected ">"'],
  [
    'a map to an enum without zero',
    `${P2}enum E { ONE = 1; } message A { map<string, ▲E> a = 1; }`,
    'whose first value is',
  ],
  [
    'a map as an extension',
    `${P2}message A { extensions 5 to 9; } extend A { ▲map<string, string> a = 5; }`,
    'map',
  ],
  ['a group in lower case', `${P2}message A { optional group ▲b = 1 {} }`, 'capital'],
  ['a group without a body', `${P2}message A { optional group B = 1▲; }`, 'expected "{"'],
  ['packed on one value', `${P3}message A { int32 a = 1 [▲packed = true]; }`, 'packed'],
  ['packed strings', `${P3}message A { repeated string a = 1 [▲packed = true]; }`, 'packed'],
  ['a default of a list', `${P2}message A { repeated int32 a = 1 [▲default = 1]; }`, 'default'],
  ['a default of a message', `${P2}message M {} message A { optional M a = 1 [▲default = 1]; }`, 'default'],
  ['a text for a number', `${P2}message A { optional int32 a = 1 [▲default = "1"]; }`, 'default'],
  ['a number for a text', `${P2}message A { optional string a = 1 [▲default = 1]; }`, 'default'],
  ['a number for a boolean', `${P2}message A { optional bool a = 1 [▲default = 1]; }`, 'default'],
  ['a negative default of uint32', `${P2}message A { optional uint32 a = 1 [▲default = -1]; }`, 'default'],
  ['a default past int32', `${P2}message A { optional int32 a = 1 [▲default = 2147483648]; }`, 'default'],
  [
    'a default past uint64',
    `${P2}message A { optional uint64 a = 1 [▲default = 18446744073709551616]; }`,
    'default',
  ],
  [
    'a default that the enum has not',
    `${P2}enum E { ONE = 1; } message A { optional E a = 1 [▲default = TWO]; }`,
    'TWO',
  ],
  ['two defaults', `${P2}message A { optional int32 a = 1 [default = 1, ▲default = 2]; }`, 'twice'],
  ['two JSON names', `${P3}message A { int32 a = 1 [json_name = "x", ▲json_name = "y"]; }`, 'twice'],
  ['a JSON name that is no text', `${P3}message A { int32 a = 1 [▲json_name = x]; }`, 'json_name'],
  [
    'a required extension',
    `${P2}message A { extensions 5 to 9; } extend A { ▲required string a = 5; }`,
    'required',
  ],
)

const ENUMS = rows(
  ['an enum without values', `${P3}enum ▲A {}`, 'A has no value'],
  ['two values of one number', `${P3}enum A { Z = 0; Y = ▲0; }`, 'allow_alias'],
  [
    'allow_alias without an alias',
    `${P3}enum ▲A { option allow_alias = true; Z = 0; Y = 1; }`,
    'allow_alias',
  ],
  ['a value past 32 bits', `${P3}enum A { Z = 0; Y = ▲2147483648; }`, '2147483647'],
  ['a value before 32 bits', `${P3}enum A { Z = 0; Y = ▲-2147483649; }`, '-2147483648'],
  ['a reserved number', `${P3}enum A { reserved -3 to 5; Z = ▲0; }`, 'which A reserves (-3 to 5)'],
  ['a reserved name', `${P3}enum A { reserved "Y"; Z = 0; ▲Y = 1; }`, 'the name Y is reserved by A'],
  [
    'reserved ranges that overlap',
    `${P3}enum A { reserved 2 to 4, ▲4; Z = 0; }`,
    'overlaps with the reserved range 2 to 4',
  ],
  ['a name reserved twice', `${P3}enum A { reserved "Y", ▲"Y"; Z = 0; }`, 'twice'],
  ['no number', `${P3}enum A { Z▲; }`, 'expected "="'],
  ["values that are one without the enum's name", `${P3}enum Kind { KIND_ONE = 0; ▲ONE = 1; }`, 'KIND_ONE'],
)

const TYPES = rows(
  ['a type that no file has', `${P3}message A { ▲Nowhere a = 1; }`, 'the type "Nowhere"'],
  ['a service as a type', `${P3}service S {} message A { ▲S a = 1; }`, 'is a service (S), not a type'],
  [
    'an enum as a request',
    `${P3}enum E { Z = 0; } message A {} service S { rpc Get(▲E) returns (A); }`,
    'is an enum (E), not a message',
  ],
  [
    'an enum as a reply',
    `${P3}enum E { Z = 0; } message A {} service S { rpc Get(A) returns (▲E); }`,
    'is an enum (E), not a message',
  ],
  ['a scalar as a request', `${P3}message A {} service S { rpc Get(▲string) returns (A); }`, 'string'],
  [
    'an enum that is extended',
    `${P2}enum E { Z = 0; } extend ▲E { optional string a = 5; }`,
    'is an enum (E), not a message',
  ],
  [
    'a type of a file that is not imported',
    `${P3}import "b.proto"; message M { ▲A a = 1; }`,
    'import "c.proto"',
    { 'b.proto': `${P3}import "c.proto"; message B { A a = 1; }`, 'c.proto': `${P3}message A {}` },
  ],
  [
    'a name whose first part means something nearer',
    `${P3}package a; import "b.proto"; message b { message C {} ▲b.D d = 1; }`,
    'a.b',
    { 'b.proto': `${P3}package b; message D {}` },
  ],
)

const USERS = { 'users.proto': `${P3}package shop.users; message User {}` }
const GOOGLE = 'import "google/api/annotations.proto"; '

const IMPORTS = rows(
  [
    'a type of a package that begins like this one',
    `${P3}package shop.orders; message O { ▲shop.users.User u = 1; }`,
    'is defined in users.proto, but m.proto does not import that file; add import "users.proto";',
    USERS,
  ],
  [
    'such a type beside an import that is missing',
    `${P3}package shop.orders; import "nowhere.proto"; message O { ▲shop.users.User u = 1; }`,
    'add import "users.proto";',
    USERS,
  ],
  [
    'a type of a file that is given, beside an import that is missing',
    `${P3}import "nowhere.proto"; message O { ▲.shop.users.User u = 1; }`,
    'add import "users.proto";',
    USERS,
  ],
  [
    'a service as a type, beside an import that is missing',
    `${P3}import "nowhere.proto"; service S {} message O { ▲S s = 1; }`,
    'is a service (S), not a type',
  ],
  [
    'a type that an import imports for itself alone',
    `${P3}import "all.proto"; message O { ▲shop.users.User u = 1; }`,
    'is defined in users.proto, but m.proto does not import that',
    { ...USERS, 'all.proto': `${P3}import "users.proto"; message All { shop.users.User u = 1; }` },
  ],
  [
    'a type of protobuf',
    `${P3}message O { ▲google.protobuf.Timestamp t = 1; }`,
    'add import "google/protobuf/timestamp.proto";',
  ],
  [
    'a type of protobuf beside an import of Google',
    `${P3}${GOOGLE}message O { ▲google.protobuf.Timestamp t = 1; }`,
    'add import "google/protobuf/timestamp.proto";',
  ],
  [
    'a type of protobuf by its full name',
    `${P3}${GOOGLE}message O { ▲.google.protobuf.NullValue t = 1; }`,
    'add import "google/protobuf/struct.proto";',
  ],
  [
    'a type of Google that comes along',
    `${P3}${GOOGLE}message O { ▲google.rpc.Status s = 1; }`,
    'add import "google/rpc/status.proto";',
  ],
  [
    'a type of protobuf where its package means something nearer',
    `${P3}package a; message google { message A {} } message O { ▲google.protobuf.Timestamp t = 1; }`,
    'write ".google.protobuf.Timestamp"',
  ],
)

const FILES = rows(
  ['a package twice, behind messages', `${P3}message A {} package a; message B {} ▲package b;`, 'package'],
  ['a word of a later edition before a message', `${P3}▲export message A {}`, 'expected "message"'],
  ['a package twice', `${P3}package a; ▲package b;`, 'package'],
  ['an import twice', `${P3}import "b.proto"; import ▲"b.proto";`, '"b.proto" twice', { 'b.proto': P3 }],
  ['the syntax behind something else', `package a; ▲syntax = "proto3";`, 'syntax'],
  ['a syntax that is none', `syntax = ▲"proto4";`, 'proto4'],
  ['itself imported', `${P3}import ▲"m.proto";`, 'imports itself'],
  [
    'imports in a circle',
    `${P3}import ▲"b.proto";`,
    'm.proto → b.proto → m.proto',
    { 'b.proto': `${P3}import "m.proto";` },
  ],
  ['an option of the file twice', `${P3}option java_package = "a"; option ▲java_package = "b";`, 'twice'],
  [
    'an option of a field twice',
    `${P3}message A { string a = 1 [deprecated = true, ▲deprecated = true]; }`,
    'twice',
  ],
  ['extend without fields', `${P2}message A { extensions 5 to 9; } extend A {▲}`, 'expected'],
  ['an octal number that is none', `${P3}message A { string a = ▲08; }`, 'octal'],
  ['a number that runs into a name', `${P3}message A { string a = ▲1a; }`, 'number'],
  ['a hexadecimal number without digits', `${P3}message A { string a = ▲0x; }`, 'hexadecimal'],
  ['a comment in a comment', `${P3}/* a ▲/* b */ message A {}`, 'comment'],
  ['an escape that is none', `${P3}option java_package = "a▲\\q";`, 'escape'],
  ["a character that is none of protobuf's", `${P3}message ▲Ä {}`, '"Ä"'],
  ['a word that begins nothing', `${P3}▲messages A {}`, 'expected "message"'],
  ['a text that ends', `${P3}message A {\n  string a = 1;▲`, 'found the end of the file'],
)

const NEWER_ROWS = rows(
  ['a reserved range backwards', `${P3}message A { reserved ▲5 to 3; }`, 'ends before it starts'],
  [
    'fields of one JSON name that was written',
    `${P3}message A { string a = 1 [json_name = "x"]; int32 ▲b = 2 [json_name = "x"]; }`,
    'the JSON name "x"',
  ],
  [
    'fields of two default names that are one, written alike',
    `${P2}message A { optional string foo_bar = 1 [json_name = "x"]; optional int32 ▲fooBar = 2 [json_name = "x"]; }`,
    'the JSON name "x"',
  ],
  [
    'fields of one JSON name in a message that asks for JSON again',
    `${E23}option features.json_format = LEGACY_BEST_EFFORT; message A { option features.json_format = ALLOW; string foo_bar = 1; int32 ▲fooBar = 2; }`,
    'the default JSON name "fooBar"',
  ],
  [
    'JSON names that both were written, where the file has no rules for JSON',
    `${E23}option features.json_format = LEGACY_BEST_EFFORT; message A { string a = 1 [json_name = "x"]; int32 ▲b = 2 [json_name = "x"]; }`,
    'the JSON name "x"',
  ],
  ['`optional`', `${E23}message A { ▲optional string a = 1; }`, 'optional'],
  ['`required`', `${E23}message A { ▲required string a = 1; }`, 'LEGACY_REQUIRED'],
  ['a group', `${E23}message A { ▲group B = 1 {} }`, 'DELIMITED'],
  ['an open enum without zero first', `${E23}enum A { ▲ONE = 1; }`, 'the first value of A'],
  ['a reserved name as a text', `${E23}message A { reserved ▲"a"; }`, 'must not be in quotes'],
)

/** What protoc refuses since 2023 alone. */
export const NEWER = 'newer compilers'

/** By kind. */
export const REFUSED: Readonly<Record<string, readonly Refused[]>> = {
  'the numbers of fields': NUMBERS,
  names: NAMES,
  proto3: PROTO3,
  fields: FIELDS,
  enums: ENUMS,
  types: TYPES,
  imports: IMPORTS,
  files: FILES,
  [NEWER]: NEWER_ROWS,
}
