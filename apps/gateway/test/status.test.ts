import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connectRawWebSocket, describeWithRedis, requestMultipart, startRedis } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readStatusPage } from '../src/status/status.ts'
import { createRecentErrors } from '../src/observability/recent-errors.ts'
import { withoutSecrets } from '../src/logging/outage.ts'
import { OWN_SCHEMA, post, startGateway } from './support/gateway.ts'
import { watchStatus } from './support/watch-status.ts'

describe('/status', () => {
  it('is a page with a policy that names no other origin', async () => {
    const { server } = await startGateway(OWN_SCHEMA)
    const response = await fetch(`${server.url}/status`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const html = await response.text()
    expect(html).not.toMatch(/(?:src|href)="?(?:https?:)?\/\//)
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-\S{44}'; style-src 'sha256-\S{44}'; /)
    expect(policy).not.toMatch(/\*|http|unsafe/)
    expect((await fetch(`${server.url}/status`, { method: 'POST' })).status).toBe(405)
  })

  it.each([
    ['production preset', { preset: 'production' }, 404],
    ['turned off', { status: false }, 404],
    ['production preset, turned on', { preset: 'production', status: true }, 200],
  ] as const)('%s: %s answers %i', async (_, config, code) => {
    const { server, endpoint } = await startGateway({ ...OWN_SCHEMA, ...config })
    expect((await fetch(`${server.url}/status`)).status).toBe(code)
    const events = await fetch(`${server.url}/status/live`)
    expect(events.status).toBe(code)
    await events.body?.cancel()
    const typed = await post(endpoint, { query: '{ status { version } }' }, { 'x-graphql-csrf': '1' })
    expect(await typed.json()).toMatchObject({ errors: [{ message: /status/ }] })
  })

  it('ends its events with the gateway, and those for whoever has left', async () => {
    const { server } = await startGateway(OWN_SCHEMA)
    const { next } = await watchStatus(server.url)
    await next()
    const ended = next().catch((error: unknown) => error)
    await server.close({ graceMs: 1_000 })
    expect(await ended).toBeInstanceOf(Error)
  })

  it('counts requests, cache outcomes and the errors of every transport, without their messages', async () => {
    const { server, endpoint } = await startGateway({
      ...OWN_SCHEMA,
      responseCache: true,
      liveQuery: { defaults: { enabled: true } },
    })
    const { next } = await watchStatus(server.url)
    expect(await next()).toMatchObject({
      requests: { calls: 0, failed: 0 },
      cache: { hits: 0, misses: 0, hitRate: null },
      live: { groups: 0, subscribers: 0 },
      errors: [],
      links: [{ href: '/graphql' }, { href: '/metrics' }, { href: '/health/ready' }],
    })

    for (let i = 0; i < 4; i++) await (await post(endpoint, { query: '{ hello }' })).text()
    await (await post(endpoint, { query: 'query Bad { fail }' })).text()
    await (await post(endpoint, { query: 'query Bad { fail }' })).text()
    const deferred = await requestMultipart(endpoint, {
      body: { query: 'query Late { hello ... @defer { later: fail } }' },
    })
    await deferred.allParts()
    const socket = await connectRawWebSocket(`${endpoint}/live`)
    onTestFinished(() => void socket.close())
    socket.sendJson({ type: 'connection_init' })
    await socket.next()
    socket.sendJson({ id: '1', type: 'subscribe', payload: { query: 'query Live @live { fail }' } })
    await socket.next()
    socket.sendJson({ id: '2', type: 'subscribe', payload: { query: '{ nope }' } })
    await socket.next()
    socket.sendJson({ id: '3', type: 'subscribe', payload: { query: '{' } })
    await socket.next()

    let status = await next()
    while (status.errors.length < 5) status = await next()
    expect(status).toMatchObject({
      requests: { calls: 7, failed: 2 },
      cache: { hits: 3 },
      live: { groups: 1, subscribers: 1 },
    })
    // The failing live query runs again by itself: how often and when last is open.
    const kinds = status.errors.map((error: any) => `${error.code} ${error.operation} ${error.path}`)
    expect(kinds.toSorted()).toEqual([
      'GRAPHQL_PARSE_FAILED null null',
      'GRAPHQL_VALIDATION_FAILED null null',
      'INTERNAL_SERVER_ERROR Bad fail',
      'INTERNAL_SERVER_ERROR Late later',
      'INTERNAL_SERVER_ERROR Live fail',
    ])
    expect(status.errors.find(({ operation }: any) => operation === 'Bad').count).toBe(2)
    expect(JSON.stringify(status)).not.toContain('inside')
  })
})

describeWithRedis('/status with a Redis', () => {
  it('shows that it is lost, and that it is back', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    const { server } = await startGateway({ ...OWN_SCHEMA, redisUrl: redis.url })
    const { next } = await watchStatus(server.url)
    const row = { name: 'redis', kind: 'redis' }
    expect((await next()).backends).toMatchObject([{ ...row, up: true }])
    await redis.kill()
    expect((await next()).backends).toMatchObject([{ ...row, up: false }])
    await redis.restart()
    let { backends } = await next()
    while (!backends[0].up) backends = (await next()).backends
    expect(backends).toMatchObject([{ ...row, up: true }])
  })
})

it('has a title for every code that the sources write into an answer', () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const sources = ['packages', 'apps/gateway/src'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((path) => join(folder, path))
      .filter((path) => /\/src\/.*\.ts$/.test(path) && !path.includes('node_modules')),
  )
  const codes = sources.flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/(?:\bcode: |restError\()'([A-Z_]+)'/g)].map(
      ([, code]) => code,
    ),
  )
  expect(codes.length).toBeGreaterThan(20)
  const { html } = readStatusPage()
  const titled = new Set([...html.matchAll(/^ +([A-Z_]+): '[A-Z@]/gm)].map(([, code]) => code))
  // Those of a config are thrown at the start.
  const answered = codes.filter((code) => !code?.endsWith('_CONFIG'))
  expect(answered.filter((code) => !titled.has(code))).toEqual([])
})

describe('recent errors', () => {
  it('keep the last twenty kinds, the last one first, with list positions left out', () => {
    let now = 0
    const errors = createRecentErrors(() => ++now)
    const of = (code: string, path: (string | number)[]): object => ({
      errors: [{ message: 'secret', path, extensions: { code } }],
    })
    for (let i = 0; i < 30; i++) errors.note(of(`CODE_${i}`, ['a']), 'Op')
    expect(errors.list()).toHaveLength(20)
    expect(errors.total()).toBe(30)
    errors.note(of('NOT_FOUND', ['users', 0, 'name']), undefined)
    errors.note(of('NOT_FOUND', ['users', 7, 'name']), undefined)
    errors.note(of('a secret of a backend', ['x'.repeat(1000)]), 'y'.repeat(1000))
    const [last, found] = errors.list()
    expect(found).toEqual({ at: 32, code: 'NOT_FOUND', operation: null, path: 'users[].name', count: 2 })
    expect(last).toMatchObject({ code: 'OTHER', path: 'x'.repeat(80), operation: 'y'.repeat(80) })
  })
})

it.each([
  ['connect ECONNREFUSED 127.0.0.1:4010', 'connect ECONNREFUSED 127.0.0.1:4010'],
  ['HTTP 503 from http://127.0.0.1:1/health', 'HTTP 503 from http://127.0.0.1:1/health'],
  ['HTTP 503 from https://me:pass@api.test/health?key=1', 'HTTP 503 from https://api.test/health'],
])('an address is shown without secrets: %s', (text, shown) => {
  expect(withoutSecrets(text)).toBe(shown)
})
