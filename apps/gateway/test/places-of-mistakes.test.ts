import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { execFileSync } from 'node:child_process'
import { parse } from 'yaml'
import { emptyFolder, type Folder } from './support/folder.ts'
import { MISTAKES_OF_PARTS, PROTO, REST, SOURCE, type MistakenConfig } from './support/mistakes-of-parts.ts'

const OPENAPI = `openapi: 3.0.0
info: { title: t, version: '1' }
servers: [{ url: 'http://localhost:1' }]
paths:
  /b: { get: { operationId: b, responses: { '200': { description: d } } } }
`
const JWT = `auth:
  jwt:
    issuers:
      - { issuer: 'https://id.example', audience: api }
`

/** Configs with a mistake, which begins behind the §. */
const mistakes: readonly MistakenConfig[] = [
  [
    'a rule on a field that is not there',
    `${SOURCE}access:\n  fields:\n    §Query.getUsr: { authenticated: true }\n`,
    /expected a field or type of the schema.*; did you mean "Query.getUser"/,
  ],
  [
    'a rule on what nothing gives',
    `${SOURCE}access:\n  fields:\n    Query.getUser: { authenticated: true }\n    §Query.other: { scopes: [a] }\n`,
    /expected a field or type of the schema/,
  ],
  [
    'a rule with no alternative',
    `${SOURCE}access:\n  fields:\n    User.id: { scopes: [§[]] }\n`,
    /expected array to have >=1 items/,
  ],
  [
    'a policy without a meaning',
    `${SOURCE}access:\n  fields:\n    §User.id: { policies: [[staff]] }\n`,
    /the policy "staff" does not exist/,
  ],
  ['a word of a rule', `${SOURCE}access:\n  fields:\n    User.id: { §scope: [a] }\n`, /did you mean scopes/],
  ['a rule of another kind', `${SOURCE}access:\n  fields:\n    User.id: §5\n`, /expected/],
  [
    'a rule that says nothing',
    `${SOURCE}access:\n  fields:\n    User.id: §{}\n`,
    /the rule has no conditions; set authenticated, scopes or policies/,
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
    /HS256 requires a secret/,
  ],
  [
    'an address that is none',
    `${SOURCE}${JWT.replace("issuer: 'https://id.example'", '§issuer: me')}`,
    /expected a URL that starts with/,
  ],
  ['a cookie without csrfPrevention', `${SOURCE}${JWT}    §cookie: token\n`, /set graphql.csrfPrevention/],
  ['a secret that is short', `${SOURCE}${JWT.replace('api', 'api, secret: §abc')}`, /at least 32 characters/],
  [
    'a method that is not there',
    `${SOURCE}    methods:\n      §p.Users.GetUsr: { timeoutMs: 5 }\n`,
    /did you mean "p.Users.GetUser"/,
  ],
  ['a type that is not there', `${SOURCE}    typeNames: { §p.Usr: Account }\n`, /have no message or enum/],
  ['a service that is not there', `${SOURCE}    endpoints: { §p.Usrs: 'localhost:1' }\n`, /have no service/],
  [
    'a name to change that is not there',
    `${SOURCE}    rename: { User: Account, §Usr: B }\n`,
    /is not in the source/,
  ],
  ['something to hide that is not there', `${SOURCE}    hide: [User.id, §Usr]\n`, /is not in the source/],
  [
    'a join by a field that is not there',
    `${SOURCE}    joins:\n      - { type: User, field: a, method: p.Users.GetUser, request: { id: id } }\n      - { type: User, field: b, method: p.Users.GetUser, request: { §ids: id } }\n`,
    /request: .* has no field "ids"/,
  ],
  [
    'a join by a method that is not there',
    `${SOURCE}    joins: [{ type: User, field: a, §method: p.Users.GetUsers }]\n`,
    /method "p.Users.GetUsers" is not in the protos/,
  ],
  [
    'a batch by keys that are no list',
    `${SOURCE}    joins: [{ type: User, field: a, batch: { method: p.Users.GetUser, §keys: id, items: users } }]\n`,
    /batch.keys is "id"/,
  ],
  [
    'a join without a method',
    `${SOURCE}    joins: [§{ type: User, field: a, request: { id: id } }]\n`,
    /has no method/,
  ],
  [
    'a join that is there twice',
    `${SOURCE}    joins:\n${'      - §{ type: User, field: a, method: p.Users.GetUser, request: { id: id } }\n'.repeat(2).replace('§', '')}`,
    /is declared twice/,
  ],
  [
    'a field of a method that is a field of another kind',
    `${SOURCE}    methods:\n      p.Users.GetUser: { schema: { §type: SUBSCRIPTION } }\n`,
    /SUBSCRIPTION/,
  ],
  [
    'requests of a method that stay open',
    `${SOURCE}    methods:\n      p.Users.GetUser: { §keepRequestsOpen: true }\n`,
    /keepRequestsOpen applies only to/,
  ],
  [
    'a name of types that is not free',
    `${SOURCE}    typeNames: { p.Id: Key, §p.User: Query }\n`,
    /typeNames assigns the name "Query"/,
  ],
  [
    'a name that two are to have',
    `${SOURCE}    rename: { User.id: same, §User.name: same }\n`.replace('users.proto', 'two.proto'),
    /would have the same name "same"/,
  ],
  ['a name that no type can have', `${SOURCE}    rename: { §User: 'a b' }\n`, /cannot be called "a b"/],
  ['a prefix that no type can have', `${SOURCE}    §prefix: 'a b'\n`, /User cannot be called "A bUser"/],
  [
    'a name of what is hidden',
    `${SOURCE}    hide: [User.name]\n    rename: { §User.name: called }\n`.replace(
      'users.proto',
      'two.proto',
    ),
    /is hidden by hide/,
  ],
  ['all of a type hidden', `${SOURCE}    §hide: [User.id]\n`, /removes all fields of User/],
  [
    'an address that is no endpoint',
    SOURCE.replace('endpoint: 127.0.0.1:1', '§endpoint: a/b'),
    /is not a valid address/,
  ],
  [
    'an address of a service that is no endpoint',
    `${SOURCE}    endpoints: { §p.Users: 'a/b' }\n`,
    /is not a valid address/,
  ],
  [
    'metadata of the connection',
    `${SOURCE}    metadata: { static: { x-a: b, §te: trailers } }\n`,
    /cannot be sent as metadata/,
  ],
  [
    'metadata of a name that is none',
    `${SOURCE}    metadata: { static: { x-a: b, §x a: c } }\n`,
    /is not a valid metadata name/,
  ],
  [
    'metadata that no header can hold',
    `${SOURCE}    metadata: { static: { x-a: b, §x-b: "c\\nd" } }\n`,
    /metadata\.static: .*x-b/,
  ],
  [
    'a proto file with a mistake',
    SOURCE.replace('users.proto', 'users.proto, §wrong.proto'),
    /line 2, column 9/,
  ],
  [
    'a mistake in a proto file that is imported',
    SOURCE.replace('protoFiles: [users.proto', '§protoFiles: [importing.proto'),
    /wrong\.proto/,
  ],
  [
    'a header of replies that cannot be passed on',
    `${SOURCE}    responseHeaders: [x-a, §connection]\n`,
    /cannot be forwarded/,
  ],
  [
    'two origins of descriptors',
    `${SOURCE.replace('users:', '§users:')}    reflection: true\n`,
    /set exactly one of/,
  ],
  ['a proto file that is not there', SOURCE.replace('users.proto', '§gone.proto'), /gone.proto/],
  [
    'an endpoint whose type is none',
    `${REST}      - { name: b, path: /b, §returnType: '[x' }\n`,
    /is not a valid type/,
  ],
  [
    'an endpoint of a name that is none',
    `${REST}      - { §name: 'b c', path: /b }\n`,
    /is not a valid GraphQL name/,
  ],
  ['an endpoint that is there twice', `${REST}      - { §name: a, path: /b }\n`, /is declared twice/],
  ['a variable that nothing ends', `${REST}      - { name: b, §path: '/b/{id' }\n`, /endpoint "b"/],
  [
    'a body of a GET',
    `${REST}      - { name: b, path: /b, §bodyTemplate: '{}' }\n`,
    /a GET request cannot have a body/,
  ],
  [
    'an argument whose type is none',
    `${REST}      - { name: b, path: '/b/{id}', args: { §id: '[x' } }\n`,
    /is not a valid type/,
  ],
  [
    'an argument that nothing takes',
    `${REST}      - { name: b, path: /b, args: { §id: ID } }\n`,
    /"id" is declared, but/,
  ],
  [
    'a header of a request that is none',
    `${REST}      - { name: b, path: /b, headers: { §'a b': c } }\n`,
    /is not a valid header name/,
  ],
  [
    'a query with a stray brace',
    `${REST}      - { name: b, path: /b, queryParams: { §q: '{a-b}' } }\n`,
    /contains a brace/,
  ],
  [
    'a parameter that is there twice',
    `${REST}      - { name: b, path: /b, parameters: [{ name: q, in: query }, §{ name: q, in: query }] }\n`,
    /"q" is declared twice/,
  ],
  [
    'a path into answers that is none',
    `${REST}      - { name: b, path: /b, §responsePath: '$..a' }\n`,
    /responsePath/,
  ],
  [
    'a join by an argument that is not there',
    `${REST}      - name: b\n        path: '/b/{id}'\n        on: [{ type: A, field: b, args: { id: '{id}', §key: '{id}' } }]\n`,
    /sets the argument "key", which the endpoint does not have/,
  ],
  [
    'a link to an endpoint that is not there',
    `${REST}      - { name: b, path: /b, envelope: { links: { §next_: { endpoint: c, args: {} } } } }\n`,
    /unknown endpoint "c"/,
  ],
  [
    'a field of an answer whose type is none',
    `${REST}      - { name: b, path: /b, responseSchema: { typeName: B, fields: { §id: '[x' } } }\n`,
    /is not a valid type/,
  ],
  [
    'one item of what is no list',
    `${REST}      - { name: b, path: /b, returnType: JSON, §listOfOne: [id] }\n`,
    /listOfOne applies only to lists/,
  ],
  [
    'a header of all requests that is none',
    REST.replace('endpoints:', "defaultHeaders: { x-a: b, §'x b': c }\n    endpoints:"),
    /is not a valid header name/,
  ],
  [
    'an id in no answer',
    `${REST}      - { name: b, path: /b, method: POST, invalidates: [{ entityType: B, operation: update, §entityId: '$..' }] }\n`,
    /entityId/,
  ],
  [
    'an address that is none of an API',
    REST.replace('baseUrl: http:', '§baseUrl: ftp:'),
    /must be http or https/,
  ],
  [
    'an API without an address',
    'rest:\n  §shop:\n    endpoints: [{ name: a, path: /a }]\n',
    /baseUrl is missing/,
  ],
  [
    'a header to pass on that may not be',
    REST.replace('endpoints:', 'forwardHeaders: [x-a, §host]\n    endpoints:'),
    /"host"/,
  ],
  [
    'an OpenAPI document that is not there',
    'rest:\n  shop:\n    §openapi: { file: gone.yaml }\n',
    /cannot be read/,
  ],
  [
    'a mistake beside what a document brings',
    'rest:\n  shop:\n    openapi: { file: api.yaml }\n    endpoints: [{ name: mine, path: /a, §returnType: "[x" }]\n',
    /is not a valid type/,
  ],
  [
    'a cost of a field that is not there',
    `${SOURCE}cost:\n  fields:\n    §Query.getUsr: { weight: 2 }\n`,
    /did you mean "Query.getUser"/,
  ],
  [
    'a cost of an argument that is not there',
    `${SOURCE}cost:\n  fields:\n    Query.getUser: { arguments: { id: 1, §ids: 1 } }\n`,
    /no argument ids/,
  ],
  [
    'a size of what is no list',
    `${SOURCE}cost:\n  fields:\n    Query.getUser: { §listSize: { assumedSize: 5 } }\n`,
    /has no effect/,
  ],
  [
    'a size of fields that are not there',
    `${SOURCE}cost:\n  fields:\n    Query.getUser: { listSize: { assumedSize: 5, sizedFields: [id, §ids] } }\n`,
    /User has no field ids/,
  ],
  [
    'a statement on a field that is not there',
    `${SOURCE}dependencies:\n  §Query.getUsr: { dependsOn: [User] }\n`,
    /did you mean "Query.getUser"/,
  ],
  [
    'a statement about a type that is not there',
    `${SOURCE}dependencies:\n  Query.getUser: { changes: [User], dependsOn: [User, §Usr] }\n`,
    /no type "Usr"/,
  ],
  [
    'a limit on a field that is not there',
    `${SOURCE}rateLimit:\n  rules:\n    - { max: 1, windowSeconds: 60 }\n    - { max: 1, windowSeconds: 60, fields: [Query.getUser, §Query.getUsr] }\n`,
    /did you mean "Query.getUser"/,
  ],
  [
    'a limit by a claim of nobody',
    `${SOURCE}rateLimit:\n  rules:\n    - { max: 1, windowSeconds: 60 }\n    - { max: 1, windowSeconds: 60, §by: { claim: sub } }\n`,
    /requests have no claims/,
  ],
  [
    'a limit by a header that clients choose',
    `${SOURCE}rateLimit:\n  rules:\n    - { max: 1, windowSeconds: 60, §by: { header: x-a } }\n`,
    /can change this header/,
  ],
  [
    'a time to live of a field that is not there',
    `${SOURCE}responseCache:\n  ttlMsBySchemaCoordinate: { User: 5, §Query.getUsr: 5 }\n`,
    /did you mean "Query.getUser"/,
  ],
  [
    'a time to live of a type that is not there',
    `${SOURCE}responseCache:\n  ttlMsBySchemaCoordinate: { User: 0, §Usr: 0 }\n`,
    /did you mean "User"/,
  ],
  [
    'a live field that is not there',
    `${SOURCE}liveQuery:\n  fields: { §getUsr: { enabled: true } }\n`,
    /did you mean "Query.getUser"/,
  ],
  [
    'documents of clients where none is taken',
    `${SOURCE}§apq: true\npersistedDocuments: { from: [users.proto], mode: only }\n`,
    /refuses documents that are not registered/,
  ],
  ['two paths that are one', `${SOURCE}server: { §readinessPath: /graphql }\n`, /is already used by/],
]

/** Certificates with their keys, made once. */
const pems = new Map<string, string>()

async function folderOfFiles(): Promise<Folder> {
  const folder = await emptyFolder()
  const write = (name: string, text: string): Promise<void> => writeFile(join(folder.directory, name), text)
  await write('users.proto', PROTO)
  await write('two.proto', PROTO.replace(/1; }$/, '1; string name = 2; }'))
  await write('wrong.proto', 'syntax = "proto3";\nmessage { }')
  await write('importing.proto', PROTO.replace(';', '; import "wrong.proto";'))
  await write('api.yaml', OPENAPI)
  for (const [cert, key] of [
    ['cert.pem', 'key.pem'],
    ['second.pem', 'other.pem'],
  ] as const) {
    if (!pems.has(cert)) {
      const [at, keyAt] = [join(folder.directory, cert), join(folder.directory, key)]
      const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=a']
      execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', keyAt, '-out', at], { stdio: 'ignore' })
      pems.set(cert, await readFile(at, 'utf8')).set(key, await readFile(keyAt, 'utf8'))
    }
    await write(cert, pems.get(cert) ?? '')
    await write(key, pems.get(key) ?? '')
  }
  return folder
}

const all = [...mistakes, ...MISTAKES_OF_PARTS]

it.each(all)('%s is told with file, line and column', async (_, marked, text) => {
  const folder = await folderOfFiles()
  const before = marked.slice(0, marked.indexOf('§')).split('\n')
  const file = join(folder.directory, 'gateway.config.yaml')
  await writeFile(file, marked.replace('§', ''))
  expect(await folder.command('check')).toBe(1)
  const place = `vinyasa: ${file}:${before.length}:${(before.at(-1) ?? '').length + 1}: `
  const told = folder.err.filter((line) => text.test(line))
  expect([told.map((line) => line.slice(0, place.length)), folder.err]).toEqual([[place], folder.err])
})

it.each(all)(
  '%s is told in JSON with its place, and in TypeScript with its path',
  async (_, marked, text) => {
    const folder = await folderOfFiles()
    const config: unknown = parse(marked.replace('§', ''))
    const json = join(folder.directory, 'gateway.config.json')
    const written = JSON.stringify(config, null, 2)
    await writeFile(json, written)
    expect(await folder.command('check', '--config', json)).toBe(1)
    const line = folder.err.splice(0).find((one) => text.test(one)) ?? ''
    const [, row = '', column = '', said = ''] = /\.json:(\d+):(\d+): (.*)/s.exec(line) ?? []
    const at = written.split('\n')[Number(row) - 1]?.slice(Number(column) - 1) ?? ''
    const meant = marked.slice(marked.indexOf('§') + 1)
    // A name has quotes there, and an object's first setting is on a line of its own.
    const begin = (one: string): string | undefined => /[\w.]+|[^"'\w]/.exec(one)?.[0]
    expect([begin(at), line]).toEqual([begin(meant), line])
    const ts = join(folder.directory, 'gateway.config.ts')
    await writeFile(ts, `export default ${written}\n`)
    expect(await folder.command('check', '--config', ts)).toBe(1)
    const named = folder.err.filter((one) => text.test(one))
    expect([named.map((one) => one.startsWith(`vinyasa: ${ts}: `)), folder.err]).toEqual([[true], folder.err])
    expect(named[0]).toContain(said)
  },
)

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
    'vinyasa: /base.yaml:6:21: access.fields.',
    'vinyasa: /gateway.config.yaml:4:5: acces',
  ])
})
