import type { ServerResponse } from 'node:http'
import { createInvalidationBus, type InvalidationEvent } from '@vinyasa/invalidation'
import {
  createDisposables,
  createFakeClock,
  startRestBackend,
  waitUntil,
  type RestHandler,
} from '@vinyasa/test-kit'
import { createYoga } from 'graphql-yoga'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, useRestConnector, type RestConnectorOptions } from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const MUTATION = 'mutation { updateUser(id: "1") { id } }'

async function setup(handler: RestHandler, options: Partial<RestConnectorOptions> = {}) {
  const clock = createFakeClock()
  const bus = createInvalidationBus()
  const batches: (readonly InvalidationEvent[])[] = []
  bus.subscribe((events) => void batches.push(events))
  const backend = cleanup.use(await startRestBackend(handler))
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: backend.url,
      bus,
      clock,
      noRetry: true,
      endpoints: [
        { name: 'user', path: '/users/{id}', responseSchema: { typeName: 'User', fields: { id: 'id' } } },
        { name: 'updateUser', path: '/users/{id}', method: 'PUT', returnType: 'User' },
      ],
      ...options,
    }),
  )
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false })
  async function run(query: string, signal: AbortSignal | null = null): Promise<any> {
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      signal,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    })
    return response.json()
  }
  return { backend, bus, batches, clock, connector, run }
}

const never: RestHandler = () => new Promise(() => {})

describe('a mutation that fails', () => {
  it('with any status: announced now and three times later, unless the API says that it did nothing', async () => {
    let status = 0
    const { run, batches, clock } = await setup(() => ({ status, json: {} }))
    for (status = 300; status < 600; status++) {
      const before = batches.length
      expect(await run(MUTATION)).toHaveProperty('errors')
      await clock.advance(30_500)
      const isRefused = (status >= 400 && status < 500 && status !== 408 && status !== 499) || status === 501
      expect([status, batches.length - before]).toEqual([status, isRefused ? 0 : 4])
    }
    expect(clock.pending()).toBe(0)
  })

  it.each<readonly [string, RestHandler, number]>([
    ['cut off after the request was read', () => ({ write: (response) => response.destroy() }), 4],
    ['cut off in its answer', () => ({ headers: { 'content-length': '9' }, write: cutAnswer }), 4],
    [
      'answered with what is no JSON',
      () => ({ body: '{', headers: { 'content-type': 'application/json' } }),
      4,
    ],
    ['redirected to another origin', () => ({ status: 302, headers: { location: 'http://other.test/' } }), 4],
    ['redirected, and refused there', afterRedirect, 4],
  ])('%s', async (_, handler, count) => {
    const { run, batches, clock } = await setup(handler)
    expect(await run(MUTATION)).toHaveProperty('errors')
    await clock.advance(30_500)
    expect(batches).toHaveLength(count)
  })

  it('in its second attempt is not taken for refused, when nobody knows of the first', async () => {
    const { backend, run, batches, clock } = await setup(() => ({ status: 409 }), {
      noRetry: false,
      retry: { maxRetries: 1, initialBackoffMs: 0 },
    })
    backend.answerNext({ status: 503 })
    const answer = run(MUTATION)
    await waitUntil(() => backend.requests.length === 1)
    await waitUntil(async () => (await clock.advance(1), backend.requests.length === 2))
    expect((await answer).errors[0].extensions.code).toBe('CONFLICT')
    expect(batches).toHaveLength(1)
  })

  it('after the upstream has done it: announced once, whatever the error says', async () => {
    const { run, batches, clock } = await setup(() => ({ json: { id: 1 } }), {
      transformer: () => {
        throw Object.assign(new Error('FORBIDDEN'), { extensions: { code: 'FORBIDDEN' } })
      },
    })
    expect(await run(MUTATION)).toHaveProperty('errors')
    await clock.advance(60_000)
    expect(batches).toHaveLength(1)
  })

  it('by its deadline', async () => {
    const { backend, run, batches, clock } = await setup(never, { timeoutMs: 200 })
    const answer = run(MUTATION)
    await waitUntil(() => backend.requests.length === 1)
    await clock.advance(200)
    expect((await answer).errors[0].extensions.code).toBe('TIMEOUT')
    expect(batches).toHaveLength(1)
    await clock.advance(30_500)
    expect(batches).toHaveLength(4)
  })
})

describe('a mutation that was never sent announces nothing', () => {
  it.each(['127.0.0.1', 'localhost', 'nowhere.invalid'])('no connection to %s', async (host) => {
    const { backend, run, batches, clock } = await setup(never)
    await backend.stop()
    const again = await setup(never, { baseUrl: `http://${host}:${backend.port}` })
    expect((await again.run(MUTATION)).errors[0].extensions.code).toBe('SERVICE_UNAVAILABLE')
    expect([again.batches.length, again.clock.pending()]).toEqual([0, 0])
    expect((await run(MUTATION)).errors[0].extensions.code).toBe('SERVICE_UNAVAILABLE')
    expect([batches.length, clock.pending()]).toEqual([0, 0])
  })

  it('an interceptor throws, or the breaker is open', async () => {
    const failing = await setup(never, { interceptors: [() => Promise.reject(new Error('no token'))] })
    expect(await failing.run(MUTATION)).toHaveProperty('errors')
    expect(failing.batches).toHaveLength(0)

    const broken = await setup(() => ({ status: 500 }), { breaker: true })
    await broken.run('{ user(id: "1") { id } }')
    for (let attempt = 0; attempt < 40 && broken.connector.stats().breaker !== 'open'; attempt++)
      await broken.run('{ user(id: "1") { id } }')
    expect((await broken.run(MUTATION)).errors[0].extensions.code).toBe('SERVICE_UNAVAILABLE')
    expect(broken.batches).toHaveLength(0)
  })
})

describe('when the client leaves', () => {
  it('a mutation goes on and announces what it changed; a query is cancelled', async () => {
    let commit = (): void => {}
    const { backend, run, batches } = await setup(({ method }) =>
      method === 'GET'
        ? never({} as never)
        : new Promise((resolve) => (commit = () => resolve({ json: {} }))),
    )
    const client = new AbortController()
    const answers = Promise.allSettled([
      run(MUTATION, client.signal),
      run('{ user(id: "1") { id } }', client.signal),
    ])
    await waitUntil(() => backend.requests.length === 2)
    client.abort()
    await answers
    const query = backend.requests.find(({ method }) => method === 'GET')
    const mutation = backend.requests.find(({ method }) => method === 'PUT')
    await waitUntil(() => query?.cancelledAt)
    expect([mutation?.cancelledAt, batches.length]).toEqual([undefined, 0])
    commit()
    await waitUntil(() => batches.length === 1)
  })

  it('whoever called `execute` may still end it, and that is announced', async () => {
    const { backend, connector, batches } = await setup(never)
    const caller = new AbortController()
    const result = connector.execute('updateUser', { id: 1 }, { signal: caller.signal })
    await waitUntil(() => backend.requests.length === 1)
    caller.abort()
    await expect(result).rejects.toMatchObject({ extensions: { code: 'CANCELLED' } })
    expect(batches).toHaveLength(1)
  })

  it('a connector that is closed announces what is under way before it is gone', async () => {
    const { backend, connector, batches, clock, run } = await setup(never)
    const answer = run(MUTATION)
    await waitUntil(() => backend.requests.length === 1)
    await connector.close()
    expect(batches.length).toBeGreaterThan(0)
    await answer
    expect(clock.pending()).toBe(0)
  })
})

function cutAnswer(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '9' })
  response.write('{', () => response.destroy())
}

function afterRedirect({ method }: { readonly method: string }): ReturnType<RestHandler> {
  return method === 'GET' ? { status: 404 } : { status: 303, headers: { location: '/done' } }
}
