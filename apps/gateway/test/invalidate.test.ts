import { connectRawWebSocket, startRestBackend } from '@vinyasa/test-kit'
import type { InvalidationEvent } from '@vinyasa/invalidation'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseConfig } from '../src/config/file/parse-config.ts'
import { OWN_SCHEMA, startGateway } from './support/gateway.ts'

const SECRET = 'sixteen-characters-or-more'
const EVENT = { entityType: 'User', operation: 'update', entityId: '1' }

async function start(): Promise<{ url: string; published: InvalidationEvent[] }> {
  const { gateway, server } = await startGateway({ ...OWN_SCHEMA, invalidate: { secret: SECRET } })
  const published: InvalidationEvent[] = []
  gateway.bus.subscribe((events) => void published.push(...events))
  return { url: `${server.url}/invalidate`, published }
}

function send(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'x-invalidate-secret': SECRET, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

describe('POST /invalidate', () => {
  it.each([
    ['one event', EVENT, [EVENT]],
    [
      'a list',
      [EVENT, { entityType: 'Review', operation: 'create' }],
      [EVENT, { entityType: 'Review', operation: 'create' }],
    ],
    ['an id that is a number', { ...EVENT, entityId: 1 }, [EVENT]],
    ['everything', { entityType: '*', operation: '*' }, [{ entityType: '*', operation: '*' }]],
  ])('%s: 204, published', async (_, body, expected) => {
    const { url, published } = await start()
    const response = await send(url, body)
    expect([response.status, await response.text()]).toEqual([204, ''])
    expect(published).toEqual(expected)
  })

  it.each([
    ['no secret', { 'x-invalidate-secret': '' }],
    ['a wrong secret', { 'x-invalidate-secret': 'sixteen-characters-or-mare' }],
    ['a part of the secret', { 'x-invalidate-secret': SECRET.slice(0, -1) }],
    ['more than the secret', { 'x-invalidate-secret': `${SECRET}x` }],
  ])('%s: 401, nothing published', async (_, headers) => {
    const { url, published } = await start()
    expect((await send(url, EVENT, headers)).status).toBe(401)
    expect(published).toEqual([])
  })

  it.each([
    ['no JSON', '{'],
    ['an empty list', []],
    ['1001 events', Array.from({ length: 1001 }, () => EVENT)],
    ['no operation', { entityType: 'User' }],
    ['an unknown key', { ...EVENT, extra: 1 }],
    ['a type that is no name', { ...EVENT, entityType: 'a b' }],
    ['an empty id', { ...EVENT, entityId: '' }],
    ['one bad event in a list', [EVENT, {}]],
  ])('%s: 400 that says what was expected, nothing published', async (_, body) => {
    const { url, published } = await start()
    const response = await send(url, body)
    expect(response.status).toBe(400)
    expect((await response.json()).error).toMatch(/entityType|list of events/)
    expect(published).toEqual([])
  })

  it('256 KB and more: 413', async () => {
    const { url } = await start()
    expect((await send(url, ' '.repeat(262_145))).status).toBe(413)
  })

  it('GET: 405', async () => {
    const { url } = await start()
    const response = await fetch(url, { headers: { 'x-invalidate-secret': SECRET } })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })

  it('is off unless the config has it', async () => {
    const { server } = await startGateway(OWN_SCHEMA)
    expect((await send(`${server.url}/invalidate`, EVENT)).status).toBe(404)
  })

  it('a live query sends the new data', async () => {
    let name = 'old'
    const backend = await startRestBackend(() => ({ json: { id: '1', name } }))
    onTestFinished(() => backend.stop())
    const responseSchema = { typeName: 'User', fields: { id: 'id!', name: 'string' } }
    const { server } = await startGateway({
      rest: {
        users: {
          baseUrl: backend.url,
          endpoints: [{ name: 'user', path: '/user', responseSchema, liveQuery: { enabled: true } }],
        },
      },
      invalidate: { secret: SECRET },
    })
    const socket = await connectRawWebSocket(`${server.url}/graphql/live`)
    onTestFinished(async () => void (await socket.close()))
    socket.sendJson({ type: 'connection_init' })
    await socket.nextJson()
    socket.sendJson({ id: '1', type: 'subscribe', payload: { query: 'query @live { user { name } }' } })
    expect((await socket.nextJson()).payload.data).toEqual({ user: { name: 'old' } })
    name = 'new'
    await send(`${server.url}/invalidate`, EVENT)
    expect((await socket.nextJson()).payload.data).toEqual({ user: { name: 'new' } })
  })
})

it('a short secret is refused at start, and the message does not show it', () => {
  const parse = (): unknown => parseConfig({ invalidate: { secret: 'short' } })
  expect(parse).toThrow(/^invalidate\.secret: expected at least 16 characters/)
  expect(parse).not.toThrow(/short/)
})
