import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startRestBackend } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { emptyFolder, type Folder } from '../support/folder.ts'

/** What an old configuration may say that was passed over without a word, or written as something else. */

async function moved(file: string, text: string): Promise<{ folder: Folder; config: any; left: string }> {
  const folder = await emptyFolder()
  const proto =
    'syntax = "proto3"; package g; service S { rpc Get(A) returns (A); } message A { string id = 1; }'
  await writeFile(join(folder.directory, 's.proto'), proto)
  await writeFile(join(folder.directory, file), text)
  expect([await folder.command('init', '--from', file), folder.err]).toEqual([0, []])
  const config = parse(await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8'))
  return { folder, config, left: folder.out.filter((line) => line.startsWith('skipped ')).join('\n') }
}

const tailcall = (rest: string): string => `schema { query: Query mutation: Mutation }
type Query { doctor(id: Int!): Doctor @http(url: "BACKEND/doctors/{{.args.id}}") }
type Mutation { book(input: Slot!): Doctor @http(method: POST, url: "BACKEND/slots", body: "{{.args.input}}") }
${rest}`

const LINK = `extend schema @link(url: "https://specs.apollo.dev/connect/v0.2", import: ["@source", "@connect"])
  @source(name: "fleet", http: { baseURL: "BACKEND" })\n`

const mesh = (rest: string): string => `sources:
  - name: A
    handler:
      jsonSchema:
        endpoint: http://127.0.0.1:1
        operations:
          - { type: Query, field: a, path: '/a?tags={args.tags}', method: GET, argTypeMap: { tags: { type: array, items: { type: integer } } } }
${rest}`

describe('init --from', () => {
  it.each<readonly [string, string, string, RegExp]>([
    [
      'a default in an input',
      'old.graphql',
      tailcall('type Doctor { id: Int } input Slot { minutes: Int = 15 }'),
      /old.graphql:4: Slot.minutes: default values of input fields are not supported/,
    ],
    [
      'other spellings of a value',
      'old.graphql',
      tailcall(
        'type Doctor { kind: Kind } enum Kind { A @alias(options: ["a", "x"]) B } input Slot { a: Int }',
      ),
      /Kind.A: @alias/,
    ],
    [
      'a type that is protected',
      'old.graphql',
      tailcall('type Doctor @protected { id: Int } input Slot { a: Int }'),
      /Doctor: @protected: set access.fields/,
    ],
    [
      'a type that is kept',
      'old.graphql',
      tailcall('type Doctor @cache(maxAge: 5) { id: Int } input Slot { a: Int }'),
      /Doctor: @cache/,
    ],
    [
      'a batch whose bodies are sent as a list',
      'old.graphql',
      tailcall(
        'type Doctor { id: Int slots: [Slots] @http(method: POST, url: "BACKEND/slots", body: {doctor: "{{.value.id}}", kind: "all"}, batchKey: ["doctor"]) } type Slots { id: Int } input Slot { a: Int }',
      ),
      /Doctor.slots: batches with request bodies are not supported/,
    ],
    [
      'cache control for clients',
      'old.graphql',
      'schema @server(headers: { cacheControl: true }) @upstream(baseURL: "BACKEND") { query: Query } type Query { a: Int @http(path: "/a") }',
      /headers\.cacheControl:\): set responseCache\.clientMaxAge/,
    ],
    [
      'an entity',
      'old.graphql',
      `${LINK}type Query { t: T @connect(source: "fleet", http: { GET: "/t" }, selection: "id") } type T @key(fields: "id") { id: ID! }`,
      /T: @key is not converted.*set federation/,
    ],
    [
      'certificates that nobody verified',
      '.meshrc.yaml',
      mesh('skipSSLValidation: true'),
      /:8: skipSSLValidation: /,
    ],
    ['requests by code', '.meshrc.yaml', mesh('customFetch: ./f.js'), /customFetch: .*interceptors/],
    ['operations that are kept', '.meshrc.yaml', mesh('persistedOperations: {}'), /set|register documents/],
    [
      'what nobody knows',
      '.meshrc.yaml',
      mesh('additionalEnvelopPlugins: ./e.js'),
      /additionalEnvelopPlugins has no/,
    ],
    [
      'a subscription over pubsub',
      '.meshrc.yaml',
      mesh('additionalResolvers: [{ type: Subscription, field: sold, pubsubTopic: a, returnType: A }]'),
      /Subscription.sold: pubsub events have no equivalent/,
    ],
  ])('says that it leaves out %s', async (_, file, text, line) => {
    const { left } = await moved(file, text.replaceAll('BACKEND', 'http://127.0.0.1:1'))
    expect(left).toMatch(line)
  })

  it.each([
    '[null]',
    '[1]',
    '7',
    '[[]]',
    '[{ id: "{{.value.id}}", more: 1 }]',
    '[{ id: "{{.args.id}}" }]',
    '["{{.value.id}}", "{{.value.stock}}"]',
  ])('says that a batch over gRPC has no keys: %s', async (keys) => {
    const { config, left } = await moved(
      'old.graphql',
      `schema @link(src: "./s.proto", type: Protobuf) { query: Query }
         type Query { doctor: Doctor @http(url: "http://127.0.0.1:1/doctor") }
         type Doctor {
           id: Int
           stock: Int @grpc(url: "http://127.0.0.1:2", method: "g.S.Get", body: { ids: ${keys} }, batchKey: ["a", "id"])
         }`,
    )
    expect(left).toMatch(/Doctor.stock: a batched request needs a body with one list of keys/)
    expect(config.grpc).toBeUndefined()
  })

  it('keeps from clients what a router keeps from them', async () => {
    const backend = await startRestBackend(() => ({
      json: { id: '1', secret: 's', kind: 'A', inner: { x: 1 } },
    }))
    onTestFinished(() => backend.stop())
    const call = '@connect(source: "fleet", http: { GET: "/t" }, selection: "id secret kind inner { x }")'
    const { folder, config } = await moved(
      'old.graphql',
      `${LINK.replace('BACKEND', backend.url)}type Query { t: T ${call} hidden: T @inaccessible ${call} }
       type T { id: ID! secret: String @inaccessible kind: Kind inner: Inner @inaccessible }
       type Inner @inaccessible { x: Int } enum Kind { A B @inaccessible }`,
    )
    expect(config.rest.fleet.hide.toSorted()).toEqual(['Inner', 'Kind.B', 'T.inner', 'T.secret'])
    const endpoint = await folder.start()
    const ask = async (query: string): Promise<any> => {
      const body = JSON.stringify({ query })
      const headers = { 'content-type': 'application/json' }
      return (await fetch(endpoint, { method: 'POST', headers, body })).json()
    }
    expect(await ask('{ t { id kind } }')).toEqual({ data: { t: { id: '1', kind: 'A' } } })
    for (const query of ['{ t { secret } }', '{ t { inner { x } } }', '{ hidden { id } }'])
      expect((await ask(query)).errors[0].message).toMatch(/^Cannot query field/)
  }, 30_000)

  it('sends headers of clients to gRPC, by their way through the context of Mesh', async () => {
    const { config, left } = await moved(
      '.meshrc.yaml',
      `sources:
  - name: G
    handler:
      grpc:
        endpoint: localhost:1
        source: ./s.proto
        metaData: { authorization: [context, headers, authorization], x-a: b, x-u: [context, user, id] }
`,
    )
    expect(config.grpc.G).toMatchObject({
      forwardHeaders: ['authorization'],
      metadata: { static: { 'x-a': 'b' } },
    })
    expect(left).toMatch(/header x-u: only fixed values/)
  })

  it('reads the JSON schema of an argument of Mesh', async () => {
    const { config } = await moved('.meshrc.yaml', mesh(''))
    expect(config.rest.A.endpoints[0].args).toEqual({ tags: '[Int]' })
    expect(config.rest.A.types).toBeUndefined()
  })

  it('says how it is called, to whom names the gateway and not the file', async () => {
    const folder = await emptyFolder()
    await writeFile(join(folder.directory, '.meshrc.yaml'), mesh(''))
    expect(await folder.command('init', '--from', 'mesh', '.meshrc.yaml')).toBe(1)
    expect(folder.err.join('\n')).toMatch(
      /init --from mesh: no such file; .* such as init --from \.meshrc\.yaml$/,
    )
  })

  it('sends a form as one', async () => {
    const backend = await startRestBackend(() => ({ json: { id: 1 } }))
    onTestFinished(() => backend.stop())
    const sdl = tailcall('type Doctor { id: Int } input Slot { a: Int }').replace(
      'body: "{{.args.input}}"',
      'body: "at={{.args.at}}&b=1", encoding: ApplicationXWwwFormUrlencoded',
    )
    const { folder } = await moved(
      'old.graphql',
      sdl.replace('input: Slot!', 'at: String').replaceAll('BACKEND', backend.url),
    )
    const endpoint = await folder.start()
    const body = JSON.stringify({ query: 'mutation { book(at: "a b&c") { id } }' })
    await fetch(endpoint, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const sent = backend.requests.find(({ method }) => method === 'POST')
    expect(new URLSearchParams(String(sent?.body)).get('at')).toBe('a b&c')
  }, 30_000)
})
