import { createServer as createHttp2Server, connect } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { createGunzip } from 'node:zlib'
import { makeExecutableSchema } from '@graphql-tools/schema'
import {
  createDisposables,
  describeWithNginx,
  type Disposables,
  requestMultipart,
  startNginx,
  waitUntil,
} from '@vinyasa/test-kit'
import { useContentEncoding } from '@whatwg-node/server'
import compression from 'compression'
import type { Plugin } from 'graphql-yoga'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listen } from './support/listen.ts'
import { createTestServer, partsOf, type ServerInit } from './support/server.ts'

const query =
  '{ fast ... @defer(label: "a") { one: late(turn: 0) } ... @defer(label: "b") { two: late(turn: 1) } }'

/** Each deferred field answers only when it is told to: a part that has arrived cannot have waited for the next. */
function createStage(init: Omit<ServerInit, 'schema'> = {}) {
  const release: (() => void)[] = []
  const turns = [0, 1].map((turn) => new Promise<void>((resolve) => (release[turn] = resolve)))
  const schema = makeExecutableSchema({
    typeDefs: 'type Query { fast: String late(turn: Int!): String }',
    resolvers: {
      Query: {
        // Long enough for a proxy or a compressor to be tempted to collect more.
        fast: () => 'fast',
        late: (_: unknown, { turn }: { turn: number }) => turns[turn]?.then(() => `turn ${turn}`),
      },
    },
  })
  return { ...createTestServer({ ...init, schema }), release }
}

async function expectOneByOne(seen: () => readonly any[], release: readonly (() => void)[]): Promise<void> {
  await waitUntil(() => seen().length === 1)
  expect(seen()[0]).toEqual({ data: { fast: 'fast' }, hasNext: true })
  release[0]?.()
  await waitUntil(() => seen().length === 2)
  expect(seen()[1].incremental[0]).toMatchObject({ label: 'a', data: { one: 'turn 0' } })
  release[1]?.()
  await waitUntil(() => seen().length === 3)
  expect(seen()[2]).toMatchObject({ incremental: [{ label: 'b' }], hasNext: false })
}

async function overHttp(url: string, headers: Record<string, string> = {}) {
  const response = await requestMultipart(url, { body: { query }, headers })
  return { response, seen: () => response.parts.map((part) => part.json()) }
}

describe('HTTP/1.1', () => {
  it('parts arrive one by one, each in one chunk that ends in its delimiter', async () => {
    const disposables = createDisposables(onTestFinished)
    const stage = createStage()
    const { response, seen } = await overHttp(await listen(stage.yoga, disposables))
    await expectOneByOne(seen, stage.release)
    expect(await response.ended).toEqual({ complete: true })
    const texts = response.chunks.map(({ bytes }) => bytes.toString())
    expect(texts).toHaveLength(3)
    for (const text of texts) expect(text).toMatch(/\}\r\n---(--)?\r\n$/)
  })
})

describe('HTTP/2', () => {
  it('parts arrive one by one', async () => {
    const disposables = createDisposables(onTestFinished)
    const stage = createStage()
    const server = createHttp2Server(stage.yoga as any)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    disposables.use(server)
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    disposables.use(() => session.destroy())
    const stream = session.request({
      ':method': 'POST',
      ':path': '/graphql',
      'content-type': 'application/json',
      accept: 'multipart/mixed',
    })
    let status: unknown
    let body = ''
    stream.on('response', (headers) => (status = headers[':status']))
    stream.on('data', (chunk: Buffer) => (body += chunk.toString()))
    stream.end(JSON.stringify({ query }))
    await expectOneByOne(() => completeParts(body), stage.release)
    expect(status).toBe(200)
  })
})

function completeParts(body: string): any[] {
  return partsOf(body.slice(0, body.lastIndexOf('\r\n---') + 5) + '\r\n')
}

describeWithNginx('through nginx with its default buffering', () => {
  async function throughNginx(disposables: Disposables, http?: string) {
    const stage = createStage()
    const upstream = await listen(stage.yoga, disposables)
    const location = `proxy_pass ${new URL(upstream).origin};`
    const { port } = disposables.use(await startNginx({ location, ...(http && { http }) }))
    return { stage, url: `http://127.0.0.1:${port}/graphql` }
  }

  it('parts arrive one by one', async () => {
    const { stage, url } = await throughNginx(createDisposables(onTestFinished))
    const { seen, response } = await overHttp(url)
    await expectOneByOne(seen, stage.release)
    expect(await response.ended).toEqual({ complete: true })
  })

  it('parts arrive one by one compressed by nginx', async () => {
    const { stage, url } = await throughNginx(
      createDisposables(onTestFinished),
      'gzip on; gzip_min_length 0; gzip_types *;',
    )
    const { response } = await overHttp(url, { 'accept-encoding': 'gzip' })
    expect(response.headers['content-encoding']).toBe('gzip')
    const gunzip = createGunzip()
    let body = ''
    let taken = 0
    gunzip.on('data', (chunk: Buffer) => (body += chunk.toString()))
    await expectOneByOne(() => {
      for (; taken < response.chunks.length; taken++) gunzip.write(response.chunks[taken]?.bytes)
      return completeParts(body)
    }, stage.release)
  })
})

describe('with compression on', () => {
  const encoding = useContentEncoding() as Plugin
  it.each([
    ['before', { before: [encoding] }],
    ['after', { after: [encoding] }],
  ])("Yoga's useContentEncoding, registered %s us: parts arrive one by one", async (_, init) => {
    const disposables = createDisposables(onTestFinished)
    const stage = createStage(init)
    const url = await listen(stage.yoga, disposables)
    const { seen, response } = await overHttp(url, { 'accept-encoding': 'gzip' })
    await expectOneByOne(seen, stage.release)
    expect(response.headers['content-encoding']).toBeUndefined()
    const plain = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip' },
      body: JSON.stringify({ query: '{ fast }' }),
    })
    expect(plain.headers.get('content-encoding')).toBe('gzip')
  })

  it('the compression middleware of express: parts arrive one by one', async () => {
    const disposables = createDisposables(onTestFinished)
    const stage = createStage()
    const compress = compression({ threshold: 0, filter: () => true }) as any
    const url = await listen((request, response) => {
      compress(request, response, () => void stage.yoga(request, response))
    }, disposables)
    const { seen, response } = await overHttp(url, { 'accept-encoding': 'gzip' })
    await expectOneByOne(seen, stage.release)
    expect(await response.ended).toEqual({ complete: true })
  })
})
