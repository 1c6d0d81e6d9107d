import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connectRawWebSocket, startRestBackend, temporaryFolder } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useLiveQuery } from '@vinyasa/live-query'
import { createSchema, createYoga } from 'graphql-yoga'
import { usePersistedDocuments } from '../../src/access/documents/persisted-documents.ts'
import type { Logger } from '../../src/logging/logger.ts'
import { loadDocuments } from '../../src/access/documents/load-documents.ts'
import type { PersistedDocumentsConfig } from '../../src/access/access-types.ts'
import { post, startGateway } from '../support/gateway.ts'

const KNOWN = 'query Known { hello }'
const LIVE = 'query Live @live { hello }'
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Documents as each tool writes them; gives the path, and the ids of both documents. */
const FORMATS: Readonly<Record<string, (folder: string) => Promise<readonly [string, string, string]>>> = {
  async Apollo(folder) {
    const operations = [KNOWN, LIVE].map((body) => ({ id: sha256(body), name: 'x', type: 'query', body }))
    const manifest = { format: 'apollo-persisted-query-manifest', version: 1, operations }
    await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest))
    return ['manifest.json', sha256(KNOWN), sha256(LIVE)]
  },
  async 'Relay and graphql-codegen'(folder) {
    await writeFile(join(folder, 'persisted.json'), JSON.stringify({ 'md5-1': KNOWN, 'md5-2': LIVE }))
    return ['persisted.json', 'md5-1', 'md5-2']
  },
  async 'a folder'(folder) {
    await mkdir(join(folder, 'documents', 'deep'), { recursive: true })
    await writeFile(join(folder, 'documents', 'known.graphql'), KNOWN)
    await writeFile(join(folder, 'documents', 'deep', 'live.graphql'), LIVE)
    return ['documents', 'known', sha256(LIVE)]
  },
}

async function start(mode: PersistedDocumentsConfig['mode'], format = 'Apollo') {
  const folder = await temporaryFolder('documents')
  const [from, known, live] = (await FORMATS[format]?.(folder)) ?? []
  let executed = 0
  const { endpoint } = await startGateway({
    persistedDocuments: { from: join(folder, from ?? ''), mode },
    typeDefs: 'type Query { hello: Int }',
    resolvers: { Query: { hello: () => ++executed } },
    dependencies: { 'Query.hello': { variesBy: [] } },
    responseCache: true,
    graphql: { batching: 5 },
    liveQuery: { defaults: { enabled: true } },
  })
  const ask = async (body: unknown) => {
    const response = await post(endpoint, body)
    const { data, errors } = (await response.json()) as any
    return {
      status: response.status,
      cache: response.headers.get('x-cache'),
      data,
      code: errors?.[0].extensions.code,
    }
  }
  return { endpoint, ask, known: known ?? '', live: live ?? '', executed: () => executed }
}

const persisted = (sha256Hash: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } })

describe.each(Object.keys(FORMATS))('documents of %s', (format) => {
  it('are known by their ids, under every name that clients have for it, and hit the cache', async () => {
    const { ask, known } = await start('only', format)
    const bodies = [persisted(known), { documentId: known }, { doc_id: known }, { id: known }]
    for (const [index, body] of bodies.entries()) {
      expect(await ask(body)).toEqual({
        status: 200,
        cache: index === 0 ? 'MISS' : 'HIT',
        data: { hello: 1 },
        code: undefined,
      })
    }
  })

  it('are served on sockets, live too, and nothing else is', async () => {
    const { endpoint, known, live } = await start('only', format)
    await using socket = await connectRawWebSocket(endpoint.replace('http', 'ws'))
    socket.sendJson({ type: 'connection_init' })
    await socket.nextJson()
    for (const [id, payload] of Object.entries([
      { query: '', ...persisted(known) },
      { query: '', ...persisted(live) },
      { query: '{ hello }' },
    ])) {
      socket.sendJson({ type: 'subscribe', id, payload })
      for (;;) {
        const { id: of, type, payload: answer } = await socket.nextJson()
        if (of !== id) continue
        expect([id, type, answer[0]?.extensions.code]).toEqual(
          id === '2' ? [id, 'error', 'PERSISTED_QUERY_ONLY'] : [id, 'next', undefined],
        )
        break
      }
    }
  })
})

it('are known by their ids in a query string too, and the text beside one is not what runs', async () => {
  const { endpoint, known } = await start('only')
  for (const name of ['documentId', 'doc_id', 'id', 'extensions']) {
    for (const others of [{}, { query: '{ __typename }' }, { operationName: 'Known', variables: '{}' }]) {
      const value = name === 'extensions' ? JSON.stringify(persisted(known).extensions) : known
      const parameters = new URLSearchParams(Object.entries({ [name]: value, ...others }))
      const url = `${endpoint}?${parameters.toString()}`
      const response = await fetch(url, { headers: { 'apollo-require-preflight': '1' } })
      const answer: unknown = await response.json()
      expect([name, others, answer]).toMatchObject([name, others, { data: { hello: expect.any(Number) } }])
    }
  }
  const response = await fetch(`${endpoint}?documentId=x`, { headers: { 'apollo-require-preflight': '1' } })
  expect(response.status).toBe(404)
})

describe('document is not registered', () => {
  it.each([
    ['only', 403, 'PERSISTED_QUERY_ONLY'],
    ['allow', 200, undefined],
    ['log', 200, undefined],
  ] as const)('with mode %s: %i', async (mode, status, code) => {
    const { ask, executed } = await start(mode)
    expect(await ask({ query: '{ hello }' })).toMatchObject({ status, code })
    const other = mode === 'only' ? code : 'GRAPHQL_PARSE_FAILED'
    expect(await ask({ query: '{ not even graphql' })).toMatchObject({ data: undefined, code: other })
    expect(executed()).toBe(status === 200 ? 1 : 0)
    expect(await ask({ query: KNOWN })).toMatchObject({ status: 200 })
  })

  it.each(['only', 'allow', 'log'] as const)('is unknown by its id with mode %s', async (mode) => {
    const { ask } = await start(mode)
    for (const id of ['x', '', '__proto__', 'constructor'])
      expect(await ask(persisted(id))).toMatchObject({ status: 404, code: 'PERSISTED_QUERY_NOT_FOUND' })
  })

  it('does not get in beside the id of one that is: the registered text is what runs', async () => {
    const { ask, known } = await start('only')
    const query = 'mutation { boom }'
    expect(await ask({ query, ...persisted(known) })).toMatchObject({ status: 200, data: { hello: 1 } })
    expect(await ask({ query, ...persisted('x') })).toMatchObject({ code: 'PERSISTED_QUERY_ONLY' })
  })
})

it('a manifest that is none stops the start with the path and what was expected', async () => {
  const folder = await temporaryFolder('documents')
  await writeFile(join(folder, 'bad.json'), '{"id": {"text": 1}}')
  for (const from of ['bad.json', 'none.json']) {
    await expect(
      startGateway({ typeDefs: 'type Query { a: Int }', persistedDocuments: { from: join(folder, from) } }),
    ).rejects.toThrow(
      new RegExp(`persistedDocuments\\.from: .*${from}: (expected an Apollo manifest|ENOENT)`),
    )
  }
})

it('what differs from registered documents in a value alone is none of them', async () => {
  const folder = await temporaryFolder('documents')
  const registered = [1, 2, 3].map((n) => `{ twice(n: ${n}) }`)
  await writeFile(join(folder, 'persisted.json'), JSON.stringify({ ...registered }))
  const { endpoint } = await startGateway({
    persistedDocuments: { from: join(folder, 'persisted.json'), mode: 'only' },
    typeDefs: 'type Query { twice(n: Int): Int }',
    resolvers: { Query: { twice: (_: unknown, { n }: { n: number }) => n * 2 } },
  })
  for (const _time of [1, 2, 3]) {
    for (const [index, query] of registered.entries()) {
      const answer = await post(endpoint, { query })
      expect(await answer.json()).toEqual({ data: { twice: (index + 1) * 2 } })
    }
    expect((await post(endpoint, { query: '{ twice(n: 4) }' })).status).toBe(403)
  }
})

describe('a manifest', () => {
  const operations = [{ id: 'known', name: 'x', type: 'query', body: KNOWN }]
  const apollo = JSON.stringify({ format: 'apollo-persisted-query-manifest', version: 1, operations })
  const texts = [JSON.stringify({ known: KNOWN }), apollo, `\ufeff${apollo}`]

  async function startFrom(from: PersistedDocumentsConfig['from']) {
    return startGateway({
      persistedDocuments: { from, mode: 'only' },
      typeDefs: 'type Query { hello: Int }',
      resolvers: { Query: { hello: () => 1 } },
    })
  }

  it.each(texts)('%# is the same at an address as in a file', async (text) => {
    const store = await startRestBackend(() => ({ body: text, headers: { 'content-type': 'text/plain' } }))
    onTestFinished(() => store.stop())
    const folder = await temporaryFolder('documents')
    await writeFile(join(folder, 'm.json'), text)
    for (const from of [`${store.url}/m.json?signature=x`, join(folder, 'm.json')]) {
      const { endpoint } = await startFrom(from)
      expect(await (await post(endpoint, { documentId: 'known' })).json()).toEqual({ data: { hello: 1 } })
      expect((await post(endpoint, { query: '{ hello }' })).status).toBe(403)
    }
  })

  it('is any JSON that has ids with texts, and no other', async () => {
    const folder = await temporaryFolder('documents')
    const file = join(folder, 'm.json')
    const any = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.dictionary(fc.stringMatching(/^\w+$/), fc.constant(KNOWN)),
      fc.record({ format: fc.constant('apollo-persisted-query-manifest'), operations: fc.jsonValue() }),
    )
    await fc.assert(
      fc.asyncProperty(any, async (json) => {
        await writeFile(file, JSON.stringify(json))
        const found = await loadDocuments(file, folder).catch((error: Error) => error.message)
        const isMap = typeof json === 'object' && json !== null && !Array.isArray(json)
        const isPlain = isMap && Object.values(json).every((text) => typeof text === 'string')
        const listed: readonly any[] =
          (json as any)?.format && Array.isArray((json as any).operations) ? (json as any).operations : [0]
        const isManifest =
          isPlain || listed.every((one) => typeof one?.id === 'string' && typeof one?.body === 'string')
        expect(typeof found === 'string').toBe(!isManifest)
        expect(String(found)).toMatch(isManifest ? /Map/ : /m\.json: expected an Apollo manifest/)
      }),
    )
  })

  it.each<[string, object, RegExp]>([
    ['is not there', { status: 404, body: 'secret' }, /m\.json: expected a manifest, got HTTP status 404$/],
    ['is a page', { body: '<html>secret' }, /m\.json: Unexpected token '<'/],
    ['is empty', { json: {} }, /from: no documents are registered, so mode "only" would refuse all/],
  ])('that %s stops the start, and nothing secret is told', async (_, reply, message) => {
    const store = await startRestBackend(() => reply)
    onTestFinished(() => store.stop())
    const error: unknown = await startFrom(`${store.url}/m.json?signature=hunter2`).catch(
      (one: unknown) => one,
    )
    expect((error as Error).message).toMatch(message)
    expect((error as Error).message).not.toMatch(/hunter2/)
  })

  it('of a server that is down stops the start with the reason', async () => {
    await expect(startFrom('http://127.0.0.1:1/m.json?signature=hunter2')).rejects.toThrow(
      /^persistedDocuments\.from: http:\/\/127\.0\.0\.1:1\/m\.json: .*(ECONNREFUSED|bad port)/,
    )
    await expect(startFrom('https://u:hunter2@127.0.0.1/m.json')).rejects.toThrow(
      /^persistedDocuments\.from: https:\/\/127\.0\.0\.1\/m\.json: a user name and password/,
    )
  })
})

it('a hash may be written as GraphQL over HTTP has it', async () => {
  const { ask, known } = await start('only')
  expect(await ask({ documentId: `sha256:${known}` })).toMatchObject({ status: 200, data: { hello: 1 } })
  expect(await ask({ documentId: `md5:${known}` })).toMatchObject({ status: 404 })
})

it('mode log: a line for each subscribe, none for what a live query runs again', async () => {
  const lines: unknown[] = []
  const logger = { info: (line: unknown) => void lines.push(line) } as unknown as Logger
  const live = useLiveQuery({ defaults: { enabled: true, throttleMs: 0 } })
  onTestFinished(() => live.close())
  let runs = 0
  const yoga = createYoga({
    logging: false,
    schema: createSchema({
      typeDefs: 'type Query { hello: Int }',
      resolvers: { Query: { hello: () => ++runs } },
    }),
    plugins: [usePersistedDocuments(new Map(), { mode: 'log' }, logger), live],
  })
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const response = await yoga.fetch('http://localhost/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query: 'query @live { hello }' }),
    signal: abort.signal,
  })
  void response.text().catch(() => {})
  await expect.poll(() => runs).toBe(1)
  for (let run = 2; run < 6; run++) {
    live.store.invalidate({ entityType: '*', operation: 'update' })
    await expect.poll(() => runs).toBe(run)
  }
  expect(lines).toHaveLength(1)
})
