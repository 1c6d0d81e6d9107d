import { readFileSync } from 'node:fs'
import {
  createDisposables,
  createFakeClock,
  startRestBackend,
  waitUntil,
  type RestAnswer,
} from '@vinyasa/test-kit'
import { afterEach, describe, expect, it } from 'vitest'
import {
  createRestConnector,
  retryPresets,
  type RestConnectorOptions,
  type RestEndpoint,
} from '../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const endpoints: RestEndpoint[] = [
  { name: 'get', path: '/get' },
  { name: 'post', path: '/post', method: 'POST', args: { a: 'Int' } },
  { name: 'put', path: '/put', method: 'PUT' },
  { name: 'remove', path: '/remove', method: 'DELETE' },
  { name: 'patch', path: '/patch', method: 'PATCH' },
]

/**
 * A connector on a fake clock against a real server. The clock moves only by the waits between attempts, so the
 * arrival times that the server records are exact.
 */
async function serve(answers: (RestAnswer | 'cut')[], options: Partial<RestConnectorOptions> = {}) {
  const clock = createFakeClock()
  const { timeoutMs = 30_000, totalTimeoutMs = 60_000 } = options
  const waits: number[] = []
  const { setTimeout: fakeTimeout } = clock
  clock.setTimeout = (callback, ms) => {
    if (ms !== timeoutMs && ms !== totalTimeoutMs) waits.push(ms)
    return fakeTimeout(callback, ms)
  }
  const start = clock.now()
  const arrivals: number[] = []
  const backend = cleanup.use(
    await startRestBackend(() => {
      arrivals.push(clock.now() - start)
      const answer = answers[arrivals.length - 1] ?? answers.at(-1) ?? {}
      return answer === 'cut' ? { write: (response) => response.destroy() } : answer
    }),
  )
  const connector = cleanup.use(
    createRestConnector('r', { baseUrl: backend.url, endpoints, clock, random: () => 0.5, ...options }),
  )
  /** Lets every wait elapse until the call has settled. */
  async function settle(call: Promise<unknown>): Promise<PromiseSettledResult<unknown>> {
    let outcome: PromiseSettledResult<unknown> | undefined
    let elapsed = waits.length
    void Promise.allSettled([call]).then(([settled]) => (outcome = settled))
    await waitUntil(
      async () => {
        for (; elapsed < waits.length; elapsed++) await clock.advance(waits[elapsed] ?? 0)
        return outcome !== undefined
      },
      { everyMs: 1 },
    )
    return outcome as PromiseSettledResult<unknown>
  }
  return { clock, backend, connector, arrivals, waits, settle }
}

const unavailable: RestAnswer = { status: 503, json: { secret: 'internal' } }

describe('retries of a status in retryStatuses', () => {
  it('wait initialBackoff × multiplierⁿ, up to maxBackoff, at most maxRetries times', async () => {
    const { connector, arrivals, settle } = await serve([unavailable], {
      retry: { maxRetries: 5, initialBackoffMs: 100, maxBackoffMs: 500, multiplier: 2 },
      random: () => 1,
    })
    expect(await settle(connector.execute('get'))).toMatchObject({
      status: 'rejected',
      reason: { extensions: { code: 'SERVICE_UNAVAILABLE', status: 503, attempts: 6 } },
    })
    expect(arrivals).toEqual([0, 100, 300, 700, 1200, 1700])
  })

  it('have full jitter: a random share of the schedule, from nothing to all of it', async () => {
    const shares = [0, 0.25, 0.75]
    const { connector, arrivals, settle } = await serve([unavailable], {
      retry: { initialBackoffMs: 400, maxBackoffMs: 10_000, multiplier: 2 },
      random: () => shares.shift() ?? 1,
    })
    await settle(connector.execute('get'))
    expect(arrivals).toEqual([0, 0, 200, 1400])
  })

  it('have jitter within its bounds whatever the random number', async () => {
    const { clock, connector, waits, settle } = await serve([unavailable], {
      random: Math.random,
      retry: { initialBackoffMs: 100 },
    })
    for (let call = 0; call < 20; call++) {
      await settle(connector.execute('get'))
      // The budget of retries is what the last 10 s left of it.
      await clock.advance(10_000)
    }
    expect(waits).toHaveLength(60)
    for (const [index, wait] of waits.entries()) expect(wait).toBeLessThanOrEqual(100 * 2 ** (index % 3))
    expect(new Set(waits).size).toBeGreaterThan(50)
  })

  it.each([
    ['3', 3000],
    [new Date(1_700_000_000_000 + 2000).toUTCString(), 2000],
    // No date of RFC 9110, and sent all the same.
    [new Date(1_700_000_000_000 + 2000).toISOString(), 2000],
    ['25', 25_000],
  ])('honour Retry-After: %s, whole, whatever maxBackoff is', async (retryAfter, wait) => {
    const { connector, arrivals, settle } = await serve(
      [{ status: 429, headers: { 'retry-after': retryAfter } }, { json: 1 }],
      { retry: { maxBackoffMs: 5000 } },
    )
    expect(await settle(connector.execute('get'))).toMatchObject({ value: 1 })
    expect(arrivals).toEqual([0, wait])
  })

  it.each(['-1', '1.5', '12 Jan', 'soon'])(
    'wait as ever for a Retry-After that says nothing: %s',
    async (given) => {
      const { connector, arrivals, settle } = await serve([
        { status: 503, headers: { 'retry-after': given } },
        { json: 1 },
      ])
      expect(await settle(connector.execute('get'))).toMatchObject({ value: 1 })
      expect(arrivals).toEqual([0, 50])
    },
  )

  it('are given up at once where Retry-After is longer than the call may take', async () => {
    const { connector, arrivals, waits, settle } = await serve(
      [{ status: 429, headers: { 'retry-after': '60' } }, { json: 1 }],
      { totalTimeoutMs: 60_000 },
    )
    expect(await settle(connector.execute('get'))).toMatchObject({
      reason: { extensions: { code: 'RATE_LIMITED' } },
    })
    expect([arrivals, waits]).toEqual([[0], []])
  })

  it('happen whatever the method, and POST and PATCH carry one Idempotency-Key through all attempts', async () => {
    const { connector, backend, settle } = await serve([
      unavailable,
      unavailable,
      { json: 1 },
      unavailable,
      { json: 2 },
    ])
    expect(await settle(connector.execute('post', { a: 1 }))).toMatchObject({ value: 1 })
    expect(await settle(connector.execute('patch'))).toMatchObject({ value: 2 })
    const keys = backend.requests.map((request) => request.headers['idempotency-key'])
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
    expect(keys.slice(0, 3)).toEqual([keys[0], keys[0], keys[0]])
    expect(keys[3]).not.toBe(keys[0])
    expect(keys[4]).toBe(keys[3])
    expect(backend.requests.slice(0, 3).map((request) => request.json())).toEqual([
      { a: 1 },
      { a: 1 },
      { a: 1 },
    ])
  })

  it('do not happen for other statuses', async () => {
    const { connector, arrivals, settle } = await serve([{ status: 404 }])
    expect(await settle(connector.execute('get'))).toMatchObject({
      reason: { extensions: { code: 'NOT_FOUND' } },
    })
    expect(arrivals).toHaveLength(1)
  })

  it('read the discarded body to its end, so that all attempts use one connection', async () => {
    const { connector, backend, settle } = await serve([unavailable, unavailable, unavailable, { json: 1 }])
    await settle(connector.execute('get'))
    expect(backend.requests).toHaveLength(4)
    expect(backend.connections).toBe(1)
  })

  it('end as soon as the caller leaves', async () => {
    const { connector, clock, arrivals } = await serve([unavailable], { retry: { initialBackoffMs: 5000 } })
    const leaving = new AbortController()
    const call = connector.execute('get', {}, { signal: leaving.signal })
    await waitUntil(() => arrivals.length === 1 && clock.pending() === 2)
    leaving.abort()
    await expect(call).rejects.toMatchObject({ extensions: { code: 'CANCELLED', attempts: 1 } })
    expect(clock.pending()).toBe(0)
  })

  it('do not begin when totalTimeoutMs would end first', async () => {
    const { connector, arrivals, settle } = await serve([unavailable], {
      totalTimeoutMs: 1000,
      retry: { initialBackoffMs: 5000, maxBackoffMs: 5000 },
    })
    const outcome = await settle(connector.execute('get'))
    expect(outcome).toMatchObject({ reason: { extensions: { code: 'SERVICE_UNAVAILABLE', attempts: 1 } } })
    expect(arrivals).toHaveLength(1)
  })
})

describe('retries of a network error', () => {
  it.each([
    ['get', 4],
    ['put', 4],
    ['remove', 4],
    ['post', 1],
    ['patch', 1],
  ])('%s is sent %i times', async (endpoint, times) => {
    const { connector, arrivals, settle } = await serve(['cut'])
    const outcome = await settle(connector.execute(endpoint))
    expect(outcome).toMatchObject({
      reason: { extensions: { code: 'SERVICE_UNAVAILABLE', attempts: times } },
    })
    expect(arrivals).toHaveLength(times)
  })
})

describe('presets', () => {
  it.each([
    ['default', 3, 100, 2, 10_000, [429, 500, 502, 503, 504]],
    ['aggressive', 5, 50, 2, 30_000, [408, 429, 500, 502, 503, 504]],
  ] as const)('%s', async (name, maxRetries, initialBackoffMs, multiplier, maxBackoffMs, retryStatuses) => {
    expect(retryPresets[name]).toEqual({
      maxRetries,
      initialBackoffMs,
      multiplier,
      maxBackoffMs,
      retryStatuses,
    })
    const { connector, arrivals, settle } = await serve([unavailable], { retry: retryPresets[name] })
    await settle(connector.execute('get'))
    expect(arrivals).toHaveLength(maxRetries + 1)
  })

  it.each(['README.md', 'src/retry/retry-policy.ts'])('%s names the statuses of the default', (file) => {
    const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')
    expect(text).toContain(` ${retryPresets.default.retryStatuses.join(', ')}`)
  })

  it.each([
    ['disabled', { retry: retryPresets.disabled }],
    ['noRetry', { noRetry: true }],
  ])('%s: one attempt, and no Idempotency-Key', async (_, options) => {
    const { connector, backend, settle } = await serve([unavailable], options)
    await settle(connector.execute('post'))
    expect(backend.requests).toHaveLength(1)
    expect(backend.requests[0]?.headers['idempotency-key']).toBeUndefined()
  })
})

describe('the retry budget', () => {
  it('adds at most 10 % of load when every answer for 10 s at 100 rps is 503', async () => {
    const { connector, clock, backend, settle } = await serve([unavailable])
    const calls: Promise<unknown>[] = []
    for (let sent = 0; sent < 1000; sent++) {
      calls.push(connector.execute('post').catch(() => undefined))
      await clock.advance(10)
    }
    await settle(Promise.all(calls))
    const { retries, requests } = connector.stats()
    expect(backend.requests).toHaveLength(requests)
    expect(requests).toBe(1000 + retries)
    expect(retries).toBeGreaterThan(10)
    expect(retries).toBeLessThanOrEqual(100)
  })
})
