import { useCSRFPrevention } from '@graphql-yoga/plugin-csrf-prevention'
import { createInlineSigningKeyProvider, useJWT } from '@graphql-yoga/plugin-jwt'
import { usePersistedOperations } from '@graphql-yoga/plugin-persisted-operations'
import { getOperationAST } from 'graphql'
import jsonwebtoken from 'jsonwebtoken'
import type { Plugin } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { createFakeClock } from '@vinyasa/test-kit'
import { ask, createWorld, type World } from './kit.ts'

const users = '{ users { id name } }'
const secret = 'a key for this test'

/** Each plugin stands once before and once after the cache. */
const places = ['before', 'after'] as const

describe.each(places)('%s the cache', (place) => {
  it('JWT: a token that expired is refused a hit', async () => {
    const now = Math.floor(Date.now() / 1000)
    let clockTimestamp = now
    const jwt = useJWT({
      signingKeyProviders: [createInlineSigningKeyProvider(secret)],
      reject: { missingToken: true, invalidToken: true },
      tokenVerification: {
        algorithms: ['HS256'],
        get clockTimestamp() {
          return clockTimestamp
        },
      } as never,
    })
    const world = createWorld({ [place]: [jwt as Plugin] })
    const authorization = `Bearer ${jsonwebtoken.sign({ sub: 'ada' }, secret, { expiresIn: 60 })}`
    expect((await ask(world, users, { headers: { authorization } })).status).toBe(200)
    expect((await ask(world, users, { headers: { authorization } })).cache).toBe('HIT')
    clockTimestamp = now + 3600
    expect((await ask(world, users, { headers: { authorization } })).status).toBe(401)
    expect((await ask(world, users)).status).toBe(401)
    expect(world.calls['users']).toBe(1)
  })

  it('CSRF: a simple GET is refused a hit', async () => {
    const world = createWorld({ [place]: [useCSRFPrevention() as Plugin] })
    const headers = { 'x-graphql-yoga-csrf': '1' }
    await ask(world, users, { method: 'GET', headers })
    expect((await ask(world, users, { method: 'GET', headers })).cache).toBe('HIT')
    expect((await ask(world, users, { method: 'GET' })).status).toBe(403)
  })

  it('persisted operations: the same text sent by hand is refused a hit', async () => {
    const world = createWorld({
      [place]: [
        usePersistedOperations({ getPersistedOperation: (hash) => (hash === 'h' ? users : null) }) as Plugin,
      ],
    })
    const send = async (body: object) => {
      const response = await world.yoga.fetch('http://localhost/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return { cache: response.headers.get('x-cache'), json: (await response.json()) as any }
    }
    const persisted = { extensions: { persistedQuery: { version: 1, sha256Hash: 'h' } } }
    expect((await send(persisted)).cache).toBe('MISS')
    expect((await send(persisted)).cache).toBe('HIT')
    const byHand = await send({ query: users })
    expect(byHand.json.errors[0].message).toBe('PersistedQueryOnly')
    expect(byHand.json.data).toBeUndefined()
  })

  it('a context that refuses refuses a hit', async () => {
    let isAllowed = true
    const guard: Plugin = {
      onContextBuilding() {
        if (!isAllowed) throw new Error('revoked')
      },
    }
    const world = createWorld({ [place]: [guard] })
    await ask(world, users)
    expect((await ask(world, users)).cache).toBe('HIT')
    isAllowed = false
    const refused = await ask(world, users)
    expect(refused.json.errors).toHaveLength(1)
    expect(refused.json.data).toBeUndefined()
  })
})

describe('a hit that the context refuses', () => {
  it('is not counted, and starts no refresh', async () => {
    const clock = createFakeClock()
    let isAllowed = true
    const guard: Plugin = {
      onContextBuilding() {
        if (!isAllowed) throw new Error('revoked')
      },
    }
    const world = createWorld({
      after: [guard],
      cache: { platform: { clock }, defaultTtlMs: 60_000, staleWhileRevalidateMs: 30_000 },
    })
    await ask(world, users)
    isAllowed = false
    await ask(world, users)
    await clock.advance(61_000)
    const refused = await ask(world, users)
    expect([refused.cache, refused.json.data]).toEqual(['BYPASS', undefined])
    await clock.advance(0)
    expect(world.cache.stats()).toMatchObject({ hits: 0, stale: 0, misses: 1 })
    expect(world.calls['users']).toBe(1)
    isAllowed = true
    expect((await ask(world, users)).cache).toBe('STALE')
  })

  it('is not given when a mutation evicted it while the context was built', async () => {
    const gate = { open: Promise.resolve(), waiting: () => {} }
    const guard: Plugin = {
      async onContextBuilding() {
        gate.waiting()
        await gate.open
      },
    }
    const world = createWorld({ after: [guard] })
    await ask(world, users)
    let release = (): void => {}
    gate.open = new Promise((resolve) => (release = resolve))
    const waits = new Promise<void>((resolve) => (gate.waiting = resolve))
    const slow = ask(world, users)
    await waits
    world.users.set('1', { id: '1', name: 'Eve' })
    await world.cache.purge({ type: 'User' })
    release()
    expect((await slow).json.data.users[0].name).toBe('Eve')
  })
})

describe('batching limit', () => {
  async function batch(world: World, count: number): Promise<{ status: number; cache: string | null }> {
    const response = await world.yoga.fetch('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(Array.from({ length: count }, () => ({ query: users }))),
    })
    await response.text()
    return { status: response.status, cache: response.headers.get('x-cache') }
  }

  it('one operation over the limit is refused hits as it is refused misses', async () => {
    const world = createWorld({ batching: { limit: 3 } })
    expect(await batch(world, 4)).toEqual({ status: 413, cache: null })
    await ask(world, users)
    expect(await batch(world, 3)).toEqual({ status: 200, cache: 'HIT, HIT, HIT' })
    expect(await batch(world, 4)).toEqual({ status: 413, cache: null })
    expect(world.cache.stats().hits).toBe(3)
  })

  it('without batching a list of hits is refused', async () => {
    const world = createWorld({ batching: false })
    await ask(world, users)
    expect(await batch(world, 1)).toEqual({ status: 400, cache: null })
  })
})

it('what stands before the cache sees hits in onExecute; what stands after sees misses only', async () => {
  const seen = { before: 0, after: 0 }
  const counting = (place: 'before' | 'after'): Plugin => ({ onExecute: () => void seen[place]++ })
  const world = createWorld({ before: [counting('before')], after: [counting('after')] })
  for (let round = 0; round < 3; round++) await ask(world, users)
  expect(seen).toEqual({ before: 3, after: 1 })
})

it('plugins see hits parsed as they see misses, wherever they stand', async () => {
  const seen = { before: 0, after: 0 }
  const counting = (place: 'before' | 'after'): Plugin => ({ onParse: () => void seen[place]++ })
  const world = createWorld({ before: [counting('before')], after: [counting('after')] })
  for (let round = 0; round < 3; round++) await ask(world, users)
  expect(seen).toEqual({ before: 3, after: 3 })
  expect(world.cache.stats().hits).toBe(2)
})

it.each([
  ['refuses', (stop: (result: never) => void) => stop({ errors: [] } as never), 'HIT'],
  [
    'executes',
    (_stop: unknown, execute: (executor: never) => void) => execute((() => ({ data: {} })) as never),
    'MISS',
  ],
] as const)('a mutation that a plugin before the cache %s', async (_what, act, cache) => {
  const plugin: Plugin = {
    onExecute({ args, setResultAndStopExecution, setExecuteFn }) {
      if (getOperationAST(args.document)?.operation === 'mutation')
        act(setResultAndStopExecution, setExecuteFn)
    },
  }
  const world = createWorld({ before: [plugin] })
  for (const _time of [1, 2]) await ask(world, users)
  for (const _time of [1, 2]) {
    await ask(world, 'mutation { deleteUser(id: "1") }')
    expect((await ask(world, users)).cache).toBe(cache)
  }
})

describe('session, enabled and scope', () => {
  const context = ({ request }: { request: Request }): object => ({ user: request.headers.get('x-user') })

  it('session separates what headers do not', async () => {
    const world = createWorld({
      context,
      cache: { varyHeaders: [], session: (built) => built['user'] as string | null },
    })
    for (const user of ['a', 'b']) {
      expect((await ask(world, users, { headers: { 'x-user': user } })).cache).toBe('MISS')
      expect((await ask(world, users, { headers: { 'x-user': user } })).cache).toBe('HIT')
    }
  })

  it('enabled false leaves a request out', async () => {
    const world = createWorld({
      context,
      cache: { ignoredReads: ['x-user'], enabled: (built) => built['user'] === null },
    })
    await ask(world, users)
    expect((await ask(world, users, { headers: { 'x-user': 'a' } })).cache).toBe('BYPASS')
    expect((await ask(world, users)).cache).toBe('HIT')
  })
})
