import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { emptyFolder } from './support/folder.ts'

const PROTO = `syntax = "proto3"; package p;
service Users { rpc GetUser(Id) returns (User); }
message Id { string id = 1; } message User { string id = 1; }`
const SOURCE = `grpc:
  users:
    endpoint: 127.0.0.1:1
    protoFiles: [users.proto]
    expose: all
`
const JWT = `auth:
  jwt:
    issuers:
      - { issuer: 'https://id.example', audience: api }
`

/** Configs with a mistake, which begins behind the §. */
const mistakes: readonly (readonly [name: string, config: string, text: RegExp])[] = [
  [
    'a rule on a field that is not there',
    `${SOURCE}access:\n  fields:\n    §Query.getUsr: { authenticated: true }\n`,
    /no such field or type; did you mean "Query.getUser"/,
  ],
  [
    'a rule on what nothing gives',
    `${SOURCE}access:\n  fields:\n    Query.getUser: { authenticated: true }\n    §Query.other: { scopes: [a] }\n`,
    /no such field or type/,
  ],
  [
    'a rule with no alternative',
    `${SOURCE}access:\n  fields:\n    User.id: { scopes: [§[]] }\n`,
    /expected array to have >=1 items/,
  ],
  [
    'a policy without a meaning',
    `${SOURCE}access:\n  fields:\n    §User.id: { policies: [[staff]] }\n`,
    /no policy "staff"/,
  ],
  ['a word of a rule', `${SOURCE}access:\n  fields:\n    User.id: { §scope: [a] }\n`, /did you mean scopes/],
  ['a rule of another kind', `${SOURCE}access:\n  fields:\n    User.id: §5\n`, /expected/],
  [
    'a rule that says nothing',
    `${SOURCE}access:\n  fields:\n    User.id: §{}\n`,
    /expected authenticated: true, scopes or policies/,
  ],
  ['how it refuses', `${SOURCE}access:\n  refuse: §fields\n`, /expected one of/],
  [
    'two issuers of one name',
    `${SOURCE}${JWT}      - { §issuer: 'https://id.example', audience: b }\n`,
    /issuers\[0\] has the same/,
  ],
  [
    'an algorithm that fits no key',
    `${SOURCE}${JWT.replace('api', 'api, §algorithms: [HS256]')}`,
    /HS256 wants a secret/,
  ],
  [
    'an address that is none',
    `${SOURCE}${JWT.replace("issuer: 'https://id.example'", '§issuer: me')}`,
    /expected an http or https address/,
  ],
  ['a cookie without csrfPrevention', `${SOURCE}${JWT}    §cookie: token\n`, /set graphql.csrfPrevention/],
  ['a secret that is short', `${SOURCE}${JWT.replace('api', 'api, secret: §abc')}`, /at least 32 characters/],
  [
    'a method that is not there',
    `${SOURCE}    methods:\n      §p.Users.GetUsr: { timeoutMs: 5 }\n`,
    /did you mean "p.Users.GetUser"/,
  ],
  ['a type that is not there', `${SOURCE}    typeNames: { §p.Usr: Account }\n`, /names no message or enum/],
  ['a service that is not there', `${SOURCE}    endpoints: { §p.Usrs: 'localhost:1' }\n`, /names no service/],
  [
    'a name to change that is not there',
    `${SOURCE}    rename: { User: Account, §Usr: B }\n`,
    /is nothing that the source has/,
  ],
  [
    'something to hide that is not there',
    `${SOURCE}    hide: [User.id, §Usr]\n`,
    /is nothing that the source has/,
  ],
  [
    'a join by a field that is not there',
    `${SOURCE}    joins:\n      - { type: User, field: a, method: p.Users.GetUser, request: { id: id } }\n      - §{ type: User, field: b, method: p.Users.GetUser, request: { ids: id } }\n`,
    /request names "ids"/,
  ],
  [
    'a proto file that is not there',
    SOURCE.replace('users.proto', 'gone.proto').replace('  users:', '  §users:'),
    /gone.proto/,
  ],
  [
    'an endpoint whose type is none',
    `rest:\n  shop:\n    baseUrl: http://localhost:1\n    endpoints:\n      - { name: a, path: /a }\n      - §{ name: b, path: /b, returnType: '[x' }\n`,
    /is not a type/,
  ],
  [
    'a variable that no argument fills',
    `rest:\n  shop:\n    baseUrl: http://localhost:1\n    endpoints:\n      - §{ name: a, path: '/a/{id', returnType: Int }\n`,
    /endpoint "a"/,
  ],
]

it.each(mistakes)('%s is told with file, line and column', async (_, marked, text) => {
  const folder = await emptyFolder()
  const before = marked.slice(0, marked.indexOf('§')).split('\n')
  await writeFile(join(folder.directory, 'users.proto'), PROTO)
  const file = join(folder.directory, 'gateway.config.yaml')
  await writeFile(file, marked.replace('§', ''))
  expect(await folder.command('check')).toBe(1)
  const place = `vinyasa: ${file}:${before.length}:${(before.at(-1) ?? '').length + 1}: `
  const told = folder.err.filter((line) => text.test(line))
  expect([told.map((line) => line.slice(0, place.length)), folder.err]).toEqual([[place], folder.err])
})

it('all mistakes of rules are told at once, in the file that has them', async () => {
  const folder = await emptyFolder()
  await writeFile(join(folder.directory, 'users.proto'), PROTO)
  await writeFile(
    join(folder.directory, 'base.yaml'),
    `${SOURCE}access: { fields: { Usr: { scopes: [a] } } }\n`,
  )
  const file = join(folder.directory, 'gateway.config.yaml')
  await writeFile(file, `extends: base.yaml\naccess:\n  fields:\n    User.nme: { scopes: [a] }\n`)
  expect(await folder.command('print-schema')).toBe(1)
  expect(folder.err.map((line) => line.replace(folder.directory, '').slice(0, 40))).toEqual([
    'vinyasa: /base.yaml:6:21: access.fields[',
    'vinyasa: /gateway.config.yaml:4:5: acces',
  ])
})
