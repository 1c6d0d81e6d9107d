import { createInvalidationBus, type InvalidationBus } from '@vinyasa/invalidation'
import { createDisposables, createFakeClock, startRestBackend } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector } from '../../src/index.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const TTL_MS = 60_000
type Headers = Readonly<Record<string, string | string[]>>

/** A connector that caches, the upstream's headers to set, and a count of the requests that reach it. */
async function setup(bus?: InvalidationBus) {
  let headers: Headers = {}
  let version = 0
  const clock = createFakeClock()
  const backend = cleanup.use(await startRestBackend(() => ({ json: ++version, headers })))
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: backend.url,
      endpoints: [{ name: 'item', path: '/items/{n}' }],
      cacheSize: 10,
      cacheTtlMs: TTL_MS,
      clock,
      bus,
    }),
  )
  let n = 0
  return {
    backend,
    clock,
    connector,
    /** Milliseconds for which what comes with these headers is given out again, found by asking at the edges. */
    async livesFor(next: Headers, expectedMs: number): Promise<number> {
      headers = next
      const ask = (): Promise<unknown> => connector.execute('item', { n: String(n) })
      n++
      const first = await ask()
      if (expectedMs > 0) {
        await clock.advance(expectedMs - 1)
        if ((await ask()) !== first) return -1
        await clock.advance(1)
      }
      return (await ask()) === first ? Number.POSITIVE_INFINITY : expectedMs
    },
  }
}

const date = (ms: number): string => new Date(ms).toUTCString()
const seconds = fc.integer({ min: 0, max: 90 })
const maybe = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(of, { nil: undefined })
const capped = (ms: number): number => Math.max(0, Math.min(TTL_MS, ms))
const RUNS = { numRuns: 60, interruptAfterTimeLimit: 20_000 }

describe('how long a response is given out again', () => {
  it('is max-age, else Expires less Date, else cacheTtlMs; less Age, and at most cacheTtlMs', async () => {
    const { livesFor, clock } = await setup()
    const said = fc.record({ maxAge: maybe(seconds), expires: maybe(seconds), age: maybe(seconds) })
    const property = fc.asyncProperty(said, async ({ maxAge, expires, age }) => {
      const now = clock.now()
      const lifetime = maxAge ?? expires
      const expected = lifetime === undefined ? TTL_MS : capped((lifetime - (age ?? 0)) * 1000)
      const headers = {
        date: date(now),
        ...(maxAge !== undefined && { 'cache-control': `public, max-age=${maxAge}` }),
        ...(expires !== undefined && { expires: date(now + expires * 1000) }),
        ...(age !== undefined && { age: String(age) }),
      }
      expect(await livesFor(headers, expected)).toBe(expected)
    })
    await fc.assert(property, RUNS)
  })

  it('goes by the upstream’s own clock where it says Expires and is ahead', async () => {
    const { livesFor, clock } = await setup()
    const property = fc.asyncProperty(
      fc.integer({ min: 0, max: 86_400 }),
      seconds,
      async (ahead, lifetime) => {
        const theirs = clock.now() + ahead * 1000
        const headers = { date: date(theirs), expires: date(theirs + lifetime * 1000) }
        expect(await livesFor(headers, capped(lifetime * 1000))).toBe(capped(lifetime * 1000))
      },
    )
    await fc.assert(property, RUNS)
  })

  it.each(['0', '-1', '', 'soon', '3600', '9999', '2099', 'Never 2099', '2099-01-01T00:00:00Z'])(
    'is no time at all with Expires: "%s", which is no date of HTTP',
    async (expires) => {
      const { livesFor, clock } = await setup()
      expect(await livesFor({ date: date(clock.now()), expires }, 0)).toBe(0)
    },
  )

  it('takes off what has passed since the Date, or Age where that is more', async () => {
    const { livesFor, clock } = await setup()
    const property = fc.asyncProperty(seconds, seconds, maybe(seconds), async (maxAge, since, age = 0) => {
      const headers = {
        date: date(clock.now() - since * 1000),
        'cache-control': `max-age=${maxAge}`,
        age: String(age),
      }
      const expected = capped((maxAge - Math.max(since, age)) * 1000)
      expect(await livesFor(headers, expected)).toBe(expected)
    })
    await fc.assert(property, RUNS)
  })

  it('takes no Age that is no number for one', async () => {
    const { livesFor } = await setup()
    const cacheControl = { 'cache-control': 'max-age=40' }
    expect(await livesFor({ ...cacheControl, age: '30' }, 10_000)).toBe(10_000)
    for (const age of ['old', '-5', '1.5'])
      expect(await livesFor({ ...cacheControl, age }, 40_000)).toBe(40_000)
  })
})

describe('Vary', () => {
  it('keeps a response unless it varies with what is not part of the key', async () => {
    const { livesFor } = await setup()
    const covered = ['accept', 'accept-encoding', 'authorization', 'cookie', 'origin', 'x-tenant']
    const uncovered = ['*', 'traceparent', 'tracestate', 'baggage', 'x-request-id', 'x-correlation-id']
    const inAnyCase = (names: string[]): fc.Arbitrary<string> =>
      fc.constantFrom(...names, ...names.map((name) => name.toUpperCase()))
    const member = fc.oneof(
      { weight: 4, arbitrary: inAnyCase(covered) },
      { weight: 1, arbitrary: inAnyCase(uncovered) },
    )
    const separator = fc.constantFrom(',', ', ', ' , ', ',,')
    const property = fc.asyncProperty(
      fc.array(fc.array(member, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 2 }),
      separator,
      async (lines, comma) => {
        const isKept = lines.flat().every((name) => !uncovered.includes(name.toLowerCase()))
        const expected = isKept ? TTL_MS : 0
        expect(await livesFor({ vary: lines.map((names) => names.join(comma)) }, expected)).toBe(expected)
      },
    )
    await fc.assert(property, RUNS)
  })
})

describe('a bus that is out of touch', () => {
  /** Out of touch when it is told to be; what others announced meanwhile is lost. */
  function fragile() {
    const bus = createInvalidationBus()
    let isInTouch = true
    return {
      bus: {
        publish: bus.publish,
        subscribe: bus.subscribe,
        get isInTouch() {
          return isInTouch
        },
      },
      lose: () => void (isInTouch = false),
      async regain() {
        await bus.publish([{ entityType: '*', operation: '*' }])
        isInTouch = true
      },
    }
  }

  it('leaves nothing of the cache to be given out or stored, and nothing from before once it is back', async () => {
    const step = fc.constantFrom('read', 'read', 'read', 'lose', 'regain')
    const property = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
      const { bus, lose, regain } = fragile()
      const { connector, backend } = await setup(bus)
      let kept: unknown
      let requests = 0
      const answers: unknown[] = []
      const expected: unknown[] = []
      for (const name of steps) {
        if (name === 'lose') lose()
        else if (name === 'regain') {
          await regain()
          kept = undefined
        } else {
          const isHit = bus.isInTouch && kept !== undefined
          if (!isHit) requests++
          const seen = await connector.execute('item', { n: '1' })
          answers.push([seen, backend.requests.length])
          expected.push([isHit ? kept : requests, requests])
          if (bus.isInTouch) kept = seen
        }
      }
      await connector.close()
      expect(answers).toEqual(expected)
    })
    await fc.assert(property, RUNS)
  })

  it('lets nobody join a request under way, which may be older than what is not heard of', async () => {
    const { bus, lose, regain } = fragile()
    const { connector, backend } = await setup(bus)
    for (const change of [() => {}, lose, regain]) {
      await change()
      const before = backend.requests.length
      await Promise.all([connector.execute('item', { n: '1' }), connector.execute('item', { n: '1' })])
      expect(backend.requests.length - before).toBe(change === lose ? 2 : 1)
    }
  })

  it('does not store what was asked for while in touch and came after', async () => {
    const { bus, lose, regain } = fragile()
    const { connector, backend } = await setup(bus)
    backend.answerNext(() => {
      lose()
      return { json: 'before' }
    })
    expect(await connector.execute('item', { n: '1' })).toBe('before')
    expect(connector.stats().cached).toBe(0)
    backend.answerNext(async () => {
      await regain()
      return { json: 'between' }
    })
    expect(await connector.execute('item', { n: '1' })).toBe('between')
    expect(connector.stats().cached).toBe(0)
  })
})

it('gives nothing out that is older than the bus lets it be, not for an upstream that fails either', async () => {
  const bus: InvalidationBus & { maxAgeMs?: number | undefined } = { ...createInvalidationBus() }
  const { connector, backend, clock } = await setup(bus)
  const ask = (): Promise<unknown> => connector.execute('item', { n: '1' })
  backend.answerNext({ json: 'first', headers: { 'cache-control': 'max-age=1, stale-if-error=60' } })
  expect(await ask()).toBe('first')
  await clock.advance(2_000)
  const failing = { status: 503, headers: { 'retry-after': '600' } }
  backend.answerNext(failing)
  expect(await ask()).toBe('first')
  bus.maxAgeMs = 3_000
  await clock.advance(900)
  // It grows too old while the upstream is asked.
  backend.answerNext(async () => {
    await clock.advance(100)
    return failing
  })
  await expect(ask()).rejects.toThrow('503')
})
