import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { useAPQ } from '@graphql-yoga/plugin-apq'
import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations'
import { connectRawWebSocket } from '@vinyasa/test-kit'
import { type DocumentNode, parse } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GatewayConfig } from '../../../apps/gateway/src/config/types.ts'
import { startGateway } from '../../../apps/gateway/test/support/gateway.ts'

// Plugins of the config may know documents by their ids. They have the last word: the gateway refuses what none of them knows.

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const TEXTS = {
  plain: 'query Plain { user(id: "1") { id name } }',
  variable: 'query Variable($id: ID!) { user(id: $id) { id name } }',
  deferred: 'query Deferred { user(id: "1") { id ... @defer { name } } }',
  live: 'query Live @live { user(id: "1") { id name } }',
} as const

const byId = (id: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: id } } })
const ada = { data: { user: { id: '1', name: 'Ada' } } }
const grace = { data: { user: { id: '2', name: 'Grace' } } }

type Ask = (init: RequestInit & { readonly search?: Readonly<Record<string, string>> }) => Promise<Response>

const DOORS = ['of the server', 'of Yoga'] as const

async function start(plugins: readonly Plugin[], config: Partial<GatewayConfig> = {}) {
  const names: Readonly<Record<string, string>> = { 1: 'Ada', 2: 'Grace' }
  const { endpoint, gateway } = await startGateway({
    typeDefs: 'type User { id: ID! name: String } type Query { user(id: ID!): User }',
    resolvers: { Query: { user: (_: unknown, { id }: { id: string }) => ({ id, name: names[id] }) } },
    dependencies: { 'Query.user': { variesBy: [] } },
    responseCache: true,
    graphql: { batching: 5 },
    liveQuery: { defaults: { enabled: true } },
    plugins: plugins.map((plugin) => Object.assign(plugin, { readsHeaders: [] })),
    ...config,
  })
  const through: Readonly<Record<(typeof DOORS)[number], Ask>> = {
    'of the server': ({ search, ...init }) => fetch(urlOf(endpoint, search), init),
    'of Yoga': ({ search, ...init }) => gateway.fetch(new Request(urlOf(endpoint, search), init)),
  }
  const readers = (ask: Ask) => ({
    async post(body: unknown, headers: Readonly<Record<string, string>> = {}) {
      const response = await ask({
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      return read(response)
    },
    async get(search: Readonly<Record<string, string>>) {
      return read(await ask({ search, headers: { 'x-graphql-csrf': '1' } }))
    },
  })
  return { endpoint, through: (door: (typeof DOORS)[number]) => readers(through[door]) }
}

function urlOf(endpoint: string, search: Readonly<Record<string, string>> = {}): string {
  return `${endpoint}?${new URLSearchParams(search)}`
}

async function read(response: Response) {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  const answer: any = isJson ? JSON.parse(text) : text
  return { status: response.status, cache: response.headers.get('x-cache'), answer }
}

const codeOf = ({ answer }: { readonly answer: any }): unknown => answer.errors?.[0].extensions.code

const ids = (texts: Readonly<Record<string, string | DocumentNode>>) =>
  usePersistedOperations({ getPersistedOperation: (id) => (Object.hasOwn(texts, id) ? texts[id]! : null) })

const documents = Object.fromEntries(Object.entries(TEXTS).map(([id, text]) => [id, parse(text)]))

describe.each([
  ['texts', () => ids(TEXTS)],
  ['parsed documents', () => ids(documents)],
])('usePersistedOperations in `plugins`: %s', (_, plugin) => {
  describe.each(DOORS)('by the door %s', (door) => {
    it('ids are answered by POST, GET and in batches, and hit the cache', async () => {
      const { post, get } = (await start([plugin()])).through(door)
      expect(await post(byId('plain'))).toEqual({ status: 200, cache: 'MISS', answer: ada })
      expect(await post(byId('plain'))).toEqual({ status: 200, cache: 'HIT', answer: ada })
      const extensions = JSON.stringify(byId('plain').extensions)
      expect(await get({ extensions })).toEqual({ status: 200, cache: 'HIT', answer: ada })
      const { answer } = await post([byId('plain'), byId('unknown'), byId('plain')])
      expect([answer[0], answer[1].errors[0].extensions.code, answer[2]]).toEqual([
        ada,
        'PERSISTED_QUERY_NOT_IN_LIST',
        ada,
      ])
    })

    it('each value of a variable has its own answer', async () => {
      const { post } = (await start([plugin()])).through(door)
      for (const cache of ['MISS', 'HIT']) {
        expect(await post({ ...byId('variable'), variables: { id: '1' } })).toMatchObject({
          cache,
          answer: ada,
        })
        expect(await post({ ...byId('variable'), variables: { id: '2' } })).toMatchObject({
          cache,
          answer: grace,
        })
      }
    })

    it('a deferred document comes in parts, from the cache too', async () => {
      const { post } = (await start([plugin()])).through(door)
      for (const cache of ['MISS', 'HIT']) {
        const given = await post(byId('deferred'), { accept: 'multipart/mixed' })
        expect([given.cache, given.answer]).toEqual([cache, expect.stringContaining('"hasNext":true')])
        expect(given.answer).toContain('{"name":"Ada"}')
      }
    })

    it('what it does not know it refuses in its own words', async () => {
      const { post } = (await start([plugin()])).through(door)
      expect(codeOf(await post(byId('unknown')))).toBe('PERSISTED_QUERY_NOT_IN_LIST')
      expect(codeOf(await post({ query: TEXTS.plain }))).toBe('CANNOT_SEND_PQ_ID_AND_BODY')
      expect(codeOf(await post({}))).toBe('PERSISTED_QUERY_ID_REQUIRED')
    })
  })

  it('an id is live on a socket', async () => {
    const { endpoint } = await start([plugin()])
    await using socket = await connectRawWebSocket(endpoint.replace('http', 'ws'))
    socket.sendJson({ type: 'connection_init' })
    await socket.nextJson()
    socket.sendJson({ type: 'subscribe', id: 'a', payload: { query: '', ...byId('live') } })
    expect(await socket.nextJson()).toMatchObject({ id: 'a', type: 'next', payload: { data: ada.data } })
  })
})

describe('useAPQ in `plugins`', () => {
  describe.each(DOORS)('by the door %s', (door) => {
    it('asks for the text once, and knows the hash from then on, by POST, GET and in batches', async () => {
      const { post, get } = (await start([useAPQ() as Plugin])).through(door)
      const hash = byId(sha256(TEXTS.plain))
      expect(codeOf(await post(hash))).toBe('PERSISTED_QUERY_NOT_FOUND')
      expect(await post({ query: TEXTS.plain, ...hash })).toEqual({ status: 200, cache: 'MISS', answer: ada })
      expect(await post(hash)).toEqual({ status: 200, cache: 'HIT', answer: ada })
      expect(await get({ extensions: JSON.stringify(hash.extensions) })).toMatchObject({
        cache: 'HIT',
        answer: ada,
      })
      expect((await post([hash, hash])).answer).toEqual([ada, ada])
      expect(await post({ query: TEXTS.plain })).toMatchObject({ cache: 'HIT', answer: ada })
      expect(codeOf(await post({ query: TEXTS.variable, ...hash }))).toBe('PERSISTED_QUERY_MISMATCH')
    })

    it('a deferred document comes in parts, from the cache too', async () => {
      const { post } = (await start([useAPQ() as Plugin])).through(door)
      const hash = byId(sha256(TEXTS.deferred))
      await post({ query: TEXTS.deferred, ...hash })
      const given = await post(hash, { accept: 'multipart/mixed' })
      expect([given.cache, given.answer]).toEqual(['HIT', expect.stringContaining('"hasNext":true')])
    })

    it('texts that differ in their literals stay apart', async () => {
      const { post } = (await start([useAPQ() as Plugin])).through(door)
      const texts = ['1', '2', '3'].map((id) => `query L { user(id: "${id}") { id } }`)
      for (const query of texts) await post({ query, ...byId(sha256(query)) })
      for (const [index, query] of texts.entries())
        expect((await post(byId(sha256(query)))).answer).toEqual({ data: { user: { id: `${index + 1}` } } })
    })
  })
})

describe('beside documents that the gateway knows', () => {
  it('a plugin added by another one knows its ids too', async () => {
    const adding: Plugin = { onPluginInit: ({ addPlugin }) => addPlugin(ids(TEXTS) as Plugin) }
    const { post } = (await start([adding])).through('of the server')
    expect((await post(byId('plain'))).answer).toEqual(ada)
  })

  it('with `apq: true` a plugin knows what the store does not, and nobody else is refused otherwise', async () => {
    const plugin = usePersistedOperations({
      allowArbitraryOperations: true,
      getPersistedOperation: (id) => (id === sha256(TEXTS.plain) ? TEXTS.plain : null),
    })
    const { post } = (await start([plugin], { apq: true })).through('of the server')
    expect((await post(byId(sha256(TEXTS.plain)))).answer).toEqual(ada)
    const other = byId(sha256(TEXTS.variable))
    await post({ query: TEXTS.variable, ...other, variables: { id: '2' } })
    expect((await post({ ...other, variables: { id: '2' } })).answer).toEqual(grace)
  })

  async function registered(text: string): Promise<Pick<GatewayConfig, 'persistedDocuments'>> {
    const folder = await mkdtemp(join(tmpdir(), 'vinyasa-documents-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const from = join(folder, 'persisted.json')
    await writeFile(from, JSON.stringify({ mine: text }))
    return { persistedDocuments: { from, mode: 'only' } }
  }

  it('with mode "only" a plugin adds ids, and texts of clients stay refused', async () => {
    const silent = usePersistedOperations({
      allowArbitraryOperations: true,
      getPersistedOperation: (id) => (id === 'plain' ? TEXTS.plain : null),
    })
    const { through } = await start([silent], await registered(TEXTS.variable))
    const { post } = through('of the server')
    expect((await post(byId('plain'))).answer).toEqual(ada)
    expect((await post({ ...byId('mine'), variables: { id: '2' } })).answer).toEqual(grace)
    expect(codeOf(await post({ query: TEXTS.plain }))).toBe('PERSISTED_QUERY_ONLY')
    expect(codeOf(await post({ query: TEXTS.plain, ...byId('plain') }))).toBe('PERSISTED_QUERY_ONLY')
  })

  it('where no plugin knows an id the gateway says what it said', async () => {
    const reading: Plugin = { onParams: () => {} }
    const plain = (await start([reading])).through('of the server')
    expect(codeOf(await plain.post(byId('unknown')))).toBe('PERSISTED_QUERY_NOT_SUPPORTED')
    const only = (await start([reading], await registered(TEXTS.plain))).through('of the server')
    expect(await only.post(byId('unknown'))).toMatchObject({ status: 404 })
    expect(codeOf(await only.post(byId('unknown')))).toBe('PERSISTED_QUERY_NOT_FOUND')
    expect(codeOf(await only.post({}))).toBe('PERSISTED_QUERY_ONLY')
  })
})
