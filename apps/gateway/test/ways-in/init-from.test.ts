import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { describe, expect, it } from 'vitest'
import { readTransforms } from '../../src/commands/migrate/mesh/transforms.ts'
import { emptyFolder, type Folder } from '../support/folder.ts'

async function folderWith(file: string, text: string): Promise<Folder> {
  const folder = await emptyFolder()
  await writeFile(join(folder.directory, file), text)
  return folder
}

/** The config that an old one in SDL gives, and what was said about it. */
async function moved(
  text: string,
): Promise<{ config: any; left: readonly string[]; out: readonly string[] }> {
  const folder = await folderWith('old.graphql', text)
  expect([await folder.command('init', '--from', 'old.graphql'), folder.err]).toEqual([0, []])
  const config = parse(await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8'))
  const left = folder.out
    .filter((line) => line.startsWith('skipped '))
    .map((line) => line.replace(/^skipped +/, ''))
  return { config, left, out: folder.out }
}

describe('init --from', () => {
  it.each([
    [
      'code',
      'mesh.config.ts',
      'process.exit(3)',
      /init does not run JavaScript or TypeScript code.*docs\/migrating\/mesh\.md\)$/,
    ],
    [
      'a schema that says nothing of backends',
      'a.graphql',
      'type Query { a: Int }',
      /the SDL contains no directive @connect, @http or @grpc/,
    ],
    ['what is no SDL', 'a.graphql', 'rest: {}', /Syntax Error.*expected Tailcall's SDL/],
    [
      'YAML of something else',
      'a.yaml',
      'rest: {}',
      /found no source with a handler grpc, openapi or jsonSchema/,
    ],
    [
      'fields of which none has a counterpart',
      'a.graphql',
      'type Query { a: Int @http(url: "{{.headers.x}}/a") }',
      /found no field that can be converted/,
    ],
  ])('refuses %s, and writes nothing', async (_, file, text, message) => {
    const folder = await folderWith(file, text)
    expect(await folder.command('init', '--from', file)).toBe(1)
    expect(folder.err.join('\n')).toMatch(message)
    expect(await readdir(folder.directory)).toEqual([file])
  })

  it('refuses a file that is not there, other files beside it, and a folder that has a config', async () => {
    const folder = await folderWith('gateway.config.yaml', '')
    expect(await folder.command('init', '--from', 'old.graphql')).toBe(1)
    const other = await emptyFolder()
    expect([
      await other.command('init', '--from', 'old.graphql'),
      await other.command('init', 'a.proto', '--from', 'b.graphql'),
    ]).toEqual([1, 1])
    expect([folder.err[0], ...other.err]).toEqual([
      expect.stringMatching(/exists already/),
      expect.stringMatching(/--from old\.graphql: ENOENT/),
      expect.stringMatching(/cannot be combined with other files/),
    ])
  })

  it('writes a config that cannot start yet as well, and says why', async () => {
    const { out } = await moved('type Query { a(x: Int): Int @http(url: "{{.env.A_SERVER}}/a/{{.args.x}}") }')
    expect(out.filter((line) => /^(wrong| +fix)/.test(line))).toEqual([
      expect.stringMatching(/^wrong .*gateway\.config\.yaml:\d+:\d+: rest\.old\.baseUrl: .*A_SERVER/),
      expect.stringMatching(/vinyasa check --against old\.graphql/),
    ])
  })

  it('gives what comes of messages the names that clients know, as the proto has others', async () => {
    const folder = await folderWith(
      'old.graphql',
      `schema @link(src: "a.proto", type: Protobuf) { query: Query }
       type Query { person(id: Int!): Person @grpc(url: "http://127.0.0.1:1", method: "a.S.GetP", body: {num: "{{.args.id}}"}) }
       type Person { id: Int first_name: String }`,
    )
    const proto = `syntax = "proto3"; package a; service S { rpc GetP(Q) returns (P); }
      message Q { int32 num = 1; } message P { int32 id = 1; string first_name = 2; }`
    await writeFile(join(folder.directory, 'a.proto'), proto)
    expect([await folder.command('init', '--from', 'old.graphql'), folder.err]).toEqual([0, []])
    expect(folder.out.filter((line) => /^(clients|breaking|dangerous) /.test(line))).toEqual([
      'clients  0 breaking, 0 dangerous',
    ])
    const config = parse(await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8'))
    expect(config.grpc.old_1).toMatchObject({
      fieldNames: 'proto',
      rename: { P: 'Person', 'Query.person(num:)': 'id' },
    })
  })

  it.each([
    [
      'a part of an argument',
      'a(x: X): Int @http(url: "/a", query: [{key: "q", value: "{{.args.x.y}}"}])',
      /can use an argument or a field of the parent/,
    ],
    [
      'a header under another name',
      'a: Int @http(url: "/a", headers: [{key: "x-b", value: "{{.headers.x-a}}"}])',
      /forwarded as a header with the same name/,
    ],
    [
      'an unknown variable',
      'a: Int @http(url: "/a/{{.vars.b}}")',
      /@server\(vars:\) does not define this variable/,
    ],
    [
      'a batch on Query',
      'a(id: Int): Int @http(url: "/a?id={{.args.id}}", batchKey: ["id"])',
      /fields of Query and Mutation cannot be batched/,
    ],
    [
      'a request handler',
      'a: Int @http(url: "/a", onRequest: "f")',
      /onRequest has no equivalent; write an interceptor/,
    ],
    [
      'an answer that is made anew',
      'a: Int @http(url: "/a", select: {b: "{{.c}}"})',
      /select: only a path into the response can be converted/,
    ],
    [
      'an argument that goes nowhere',
      'a(x: Int): Int @http(url: "/a")',
      /Query\.a\(x:\): the request does not use this argument/,
    ],
    [
      'steps',
      'a: Int @call(steps: [{query: "b"}])',
      /@call: put the request \(@http or @grpc\) on the field itself/,
    ],
    [
      'two requests',
      'a: Int @http(url: "/a") @http(url: "/b")',
      /the directives after the first are ignored/,
    ],
  ])('says of Tailcall: %s', async (_, field, message) => {
    const { left } = await moved(
      `schema @upstream(baseURL: "http://127.0.0.1:1") { query: Query }
       type Query { ok: Int @http(url: "/ok") ${field} }
       input X { y: Int }`,
    )
    expect(left).toEqual([expect.stringMatching(message)])
    expect(left[0]).toMatch(/^old\.graphql:2: /)
  })

  it('sends a header of clients to the server that it was sent to, and to no other', async () => {
    const { config } = await moved(
      `type Query {
         z: Int @http(url: "http://z.test/z")
         a: Int @http(url: "http://a.test/a", headers: [{key: "Authorization", value: "{{.headers.authorization}}"}])
         b: Int @http(url: "http://b.test/b")
       }`,
    )
    const { z, a, b } = config.rest
    expect([z, a, b].map((one) => one.forwardHeaders)).toEqual([undefined, ['authorization'], undefined])
  })

  it('leaves out what nothing leads to, and types of which no field is left', async () => {
    const { config, left } = await moved(
      `extend schema @source(name: "s", http: {
         baseURL: "http://127.0.0.1:1", headers: [{ name: "content-type", value: "application/x-www-form-urlencoded" }]
       })
       type Query { ok: Int @connect(source: "s", http: { GET: "/ok" }, selection: "$") }
       type Mutation {
         end: Done @connect(source: "s", http: { POST: "/end" }, selection: "text: $('done')")
         say(text: String, to: Int): Int
           @connect(source: "s", http: { POST: "/say", body: "meta: { to: $args.to } text: $args.text" }, selection: "$")
       }
       type Done { text: String }
       type Alone { id: Int more: Int @connect(source: "s", http: { GET: "/more/{$this.id}" }, selection: "$") }`,
    )
    expect(config.rest.s.endpoints.map(({ name, bodyTemplate }: any) => [name, bodyTemplate])).toEqual([
      ['ok', undefined],
      ['say', 'meta%5Bto%5D={to}&text={text}'],
    ])
    expect(left.map((line) => line.replace(/^.*?\d+: /, ''))).toEqual([
      `Done.text: selection: "$('done')" has no equivalent; write a resolver in a TypeScript config`,
      'Mutation.end: no field of the return type Done could be converted',
      'Alone.more: no converted field returns the type Alone',
    ])
  })

  it('takes what is text in the old configuration for text, and variables for variables', async () => {
    const { config } = await moved(
      `type Query {
         a: Int @http(url: "http://a.test/a", headers: [{key: "x", value: "a\${B}"}])
       }
       type Mutation {
         b(c: Int): Int @http(url: "http://a.test/b", method: POST, body: {c: "{{.args.c}}", key: "{{.env.KEY}}", "d": "\${E}"})
       }`.replace('"d"', 'd'),
    )
    const [a, b] = config.rest.a.endpoints
    expect([a.headers, b.bodyTemplate]).toEqual([{ x: 'a$${B}' }, '{"c":{c},"key":"${KEY}","d":"$${E}"}'])
  })

  it.each([
    [
      'a GET of Mutation',
      'type Mutation { a: Int @connect(source: "s", http: { GET: "/a" }, selection: "$") }',
      /a GET request cannot be a mutation/,
    ],
    [
      'a method',
      'extend type Query { a: T @connect(source: "s", http: { GET: "/a" }, selection: "b: c->size") }',
      /"->size" has no equivalent/,
    ],
    [
      'a list made of others',
      'extend type Query { a: U @connect(source: "s", http: { GET: "/a" }, selection: "b l: { b: d }") } type U { b: Int l: [T] }',
      /U\.l: a selection without a property is not supported for the type \[T\]/,
    ],
    [
      'a value made an object',
      'extend type Query { a: U @connect(source: "s", http: { GET: "/a" }, selection: "b l: ids { c: $ }") } type U { b: Int l: [V] } type V { c: Int d: Int }',
      /V\.c: a selection without a property is not supported for the type Int/,
    ],
    [
      'two places of one field',
      'extend type Query { a: T @connect(source: "s", http: { GET: "/a" }, selection: "b: d") x: T @connect(source: "s", http: { GET: "/a" }, selection: "b: e") }',
      /this connector from \w+; the gateway uses d/,
    ],
    [
      'a computed path',
      'extend type Query { a: T @connect(source: "s", http: { GET: "/a", path: "$args" }, selection: "b") }',
      /http\.path has no equivalent; add the path to the URL of GET/,
    ],
    [
      'a type’s own request',
      'type U @connect(source: "s", http: { GET: "/u/{$this.b}" }, selection: "b") { b: Int }',
      /@connect on a type/,
    ],
    [
      'errors',
      'extend type Query { a: T @connect(source: "s", http: { GET: "/a" }, selection: "b", errors: { message: "$" }) }',
      /errors has no equivalent/,
    ],
    [
      'a selection that never ends',
      'extend type Query { a: T @connect(source: "s", http: { GET: "/a" }, selection: "t { b") }',
      /never closed/,
    ],
  ])('says of connectors: %s', async (_, more, message) => {
    const { left } = await moved(
      `extend schema @source(name: "s", http: { baseURL: "http://127.0.0.1:1" })
       type Query { ok: Int @connect(source: "s", http: { GET: "/ok" }, selection: "$") }
       type T { b: Int t: T }
       ${more}`,
    )
    expect(left).toEqual([expect.stringMatching(message)])
  })

  const REST = 'openapi: { source: ./a.yaml, endpoint: "http://127.0.0.1:1" }'
  it.each([
    [
      'a handler that is not there',
      'sources: [{ name: a, handler: { graphql: {} } }, { name: b, handler: { REST } }]',
      /GraphQL sources are not supported/,
    ],
    [
      'a document that is not there',
      'sources: [{ name: a, handler: { openapi: { source: ./gone.yaml } } }]',
      /gone\.yaml.*fields are named after operation ids/,
    ],
    [
      'a document by its address',
      'sources: [{ name: a, handler: { openapi: { source: "http://127.0.0.1:1/a.yaml" } } }]',
      /not a local file/,
    ],
    [
      'a proto that is not there',
      'sources: [{ name: a, handler: { grpc: { source: ./gone.proto } } }]',
      /gone\.proto.*set other names in methods/,
    ],
    [
      'reflection',
      'sources: [{ name: a, handler: { grpc: { useReflection: true } } }]',
      /fields are named after their methods/,
    ],
    [
      'code for resolvers',
      'sources: [{ name: a, handler: { REST } }]\nadditionalResolvers: [./r.ts]',
      /\.\/r\.ts: code cannot be converted/,
    ],
    [
      'a prefix with exceptions',
      'sources: [{ name: a, handler: { REST }, transforms: [{ prefix: { value: A_, ignore: [B] } }] }]',
      /prefix\.ignore/,
    ],
    [
      'types to keep',
      'sources: [{ name: a, handler: { REST }, transforms: [{ filterSchema: { filters: ["Type.A"] } }] }]',
      /a list of types to keep has no equivalent; list the types to hide/,
    ],
  ])('says of Mesh: %s', async (_, text, message) => {
    const folder = await folderWith('.meshrc.yaml', text.replaceAll('REST', REST))
    await writeFile(
      join(folder.directory, 'a.yaml'),
      '{ openapi: 3.0.0, info: { title: A, version: "1" }, paths: {} }',
    )
    expect([await folder.command('init', '--from', '.meshrc.yaml'), folder.err]).toEqual([0, []])
    expect(folder.out.filter((line) => line.startsWith('skipped '))).toEqual([expect.stringMatching(message)])
  })

  it('has the transforms of Mesh as prefix, rename and hide', () => {
    const notes: string[] = []
    const transforms = readTransforms(
      [
        { prefix: { value: 'A_', includeRootOperations: true } },
        {
          rename: {
            renames: [
              {
                from: { type: 'T', field: 'a', argument: 'b' },
                to: { type: 'U', field: 'c', argument: 'd' },
              },
            ],
          },
        },
        { filterSchema: ['Query.{a, b}', 'T.!{c,d}', 'Type.!V', 'Mutation.*'] },
      ],
      (index, text) => notes.push(`${index} ${text}`),
    )
    expect([transforms, notes]).toEqual([
      {
        prefix: { types: 'A_', fields: 'A_' },
        rename: { T: 'U', 'T.a': 'c', 'T.a(b:)': 'd' },
        hide: ['Query.*', '!Query.a', '!Query.b', 'T.c', 'T.d', 'V'],
      },
      [],
    ])
  })
})
