import { createDisposables, createFakeClock, startRestBackend, type RestAnswer } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { createRestConnector, type RestConnectorOptions } from '../../src/index.ts'
import { rows } from './rows.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const TTL_MS = 60_000
const unmodified: RestAnswer = { status: 304 }
const failed: RestAnswer = { status: 503 }
const second: RestAnswer = { json: 'second' }
const tagged = { etag: '"a"', 'cache-control': 'max-age=10' }

async function setup(options: Partial<RestConnectorOptions> = {}) {
  const clock = createFakeClock()
  const backend = cleanup.use(await startRestBackend())
  const connector = cleanup.use(
    createRestConnector('c', {
      baseUrl: backend.url,
      endpoints: [{ name: 'item', path: '/item', envelope: { headers: ['X-New', 'ETag'] } }],
      cacheSize: 10,
      cacheTtlMs: TTL_MS,
      noRetry: true,
      clock,
      ...options,
    }),
  )
  return { backend, clock, connector, ask: () => connector.execute('item') as Promise<{ body: unknown }> }
}

describe('RFC 9111', () => {
  it.each(rows.map((row) => [row[0], row[1], row] as const))('%s: %s', async (_section, _says, row) => {
    const [, , headers, afterSeconds, answer, asks, gives, status = 200] = row
    const { backend, clock, ask } = await setup()
    backend.answerNext({ json: 'first', headers, status }, answer)
    await ask()
    await clock.advance(afterSeconds * 1000)
    const given = await ask().then(
      ({ body }) => body,
      () => undefined,
    )
    expect(given).toBe(gives)
    await expect.poll(() => backend.requests.length).toBe(asks === null ? 1 : 2)
    const { headers: asked = {} } = backend.requests[1] ?? {}
    const sent = Object.fromEntries(
      ['if-none-match', 'if-modified-since'].flatMap((name) => (asked[name] ? [[name, asked[name]]] : [])),
    )
    expect(sent).toEqual(asks ?? {})
  })
})

describe('a 304', () => {
  it('makes what is kept fresh again, with its headers (section 3.2)', async () => {
    const { backend, clock, connector, ask } = await setup()
    backend.answerNext(
      { json: 'first', headers: { ...tagged, age: '3' } },
      { status: 304, headers: { 'cache-control': 'max-age=20', 'x-new': 'n', 'content-type': 'text/html' } },
    )
    await ask()
    await clock.advance(10_000)
    for (const wait of [0, 19_999]) {
      await clock.advance(wait)
      expect(await ask()).toEqual({ body: 'first', headers: { xNew: 'n', etag: '"a"' } })
    }
    expect(backend.requests).toHaveLength(2)
    expect(connector.stats()).toMatchObject({ revalidated: 1, failures: 0, cached: 1 })
  })

  it('about another response than the kept one has it asked for whole (section 4.3.4)', async () => {
    const { backend, clock, ask } = await setup()
    backend.answerNext(
      { json: 'first', headers: tagged },
      { status: 304, headers: { etag: '"b"' } },
      { json: 'third' },
    )
    await ask()
    await clock.advance(10_000)
    expect((await ask()).body).toBe('third')
    expect(backend.requests.map(({ headers }) => headers['if-none-match'])).toEqual([
      undefined,
      '"a"',
      undefined,
    ])
  })

  it('is an error where nobody asked for it', async () => {
    const { backend, ask } = await setup()
    backend.answerNext(unmodified)
    await expect(ask()).rejects.toMatchObject({ extensions: { status: 304 } })
  })

  it('is waited for once by all who ask', async () => {
    const { backend, clock, ask } = await setup()
    backend.answerNext({ json: 'first', headers: tagged }, unmodified)
    await ask()
    await clock.advance(10_000)
    expect(new Set((await Promise.all([ask(), ask(), ask()])).map(({ body }) => body))).toEqual(
      new Set(['first']),
    )
    expect(backend.requests).toHaveLength(2)
  })

  it('is asked for by each caller about what he was given himself', async () => {
    const endpoints = [{ name: 'item', path: '/item' }]
    const { backend, clock, connector } = await setup({ endpoints, forwardHeaders: ['authorization'] })
    const as = (name: string) =>
      connector.execute('item', {}, { context: { request: { headers: { authorization: name } } } })
    backend.handle(({ headers }) =>
      headers['if-none-match'] === `"${headers.authorization}"`
        ? { status: 304 }
        : {
            json: headers.authorization,
            headers: { etag: `"${headers.authorization}"`, 'cache-control': 'max-age=1' },
          },
    )
    for (const _ of [1, 2]) {
      for (const name of ['a', 'b']) expect(await as(name)).toBe(name)
      await clock.advance(5_000)
    }
    expect(connector.stats().revalidated).toBe(2)
  })

  it('brings nothing back that a change made old meanwhile', async () => {
    const { createInvalidationBus } = await import('@vinyasa/invalidation')
    const bus = createInvalidationBus()
    const { backend, clock, connector, ask } = await setup({ bus })
    backend.answerNext({ json: 'first', headers: tagged }, async () => {
      await bus.publish([{ entityType: '*', operation: '*' }])
      return unmodified
    })
    await ask()
    await clock.advance(10_000)
    await ask()
    expect(connector.stats().cached).toBe(0)
  })
})

describe('a stale response', () => {
  it('is asked about once, however many are given it', async () => {
    const { backend, clock, connector, ask } = await setup()
    const headers = { 'cache-control': 'max-age=10, stale-while-revalidate=20' }
    backend.answerNext({ json: 'first', headers }, { json: 'second', headers, delayMs: 20 })
    await ask()
    await clock.advance(15_000)
    expect(await Promise.all([ask(), ask(), ask()])).toMatchObject([
      { body: 'first' },
      { body: 'first' },
      { body: 'first' },
    ])
    await expect.poll(async () => (await ask()).body).toBe('second')
    expect(backend.requests).toHaveLength(2)
    expect(connector.stats().shared).toBe(0)
  })

  it('does not stand for an error once a change made it old', async () => {
    const { createInvalidationBus } = await import('@vinyasa/invalidation')
    const bus = createInvalidationBus()
    const { backend, clock, ask } = await setup({ bus })
    backend.answerNext(
      { json: 'first', headers: { 'cache-control': 'max-age=10, stale-if-error=20' } },
      async () => {
        await bus.publish([{ entityType: '*', operation: '*' }])
        return failed
      },
    )
    await ask()
    await clock.advance(15_000)
    await expect(ask()).rejects.toThrow('503')
  })

  it('takes no more memory than cacheMaxBytes allows, with validators and without', async () => {
    const { backend, connector } = await setup({
      endpoints: [{ name: 'item', path: '/items/{n}', args: { n: 'ID!' } }],
      cacheSize: 10_000,
      cacheMaxBytes: 100_000,
    })
    backend.handle(() => ({ json: 'x'.repeat(1000), headers: { ...tagged, 'cache-control': 'max-age=0' } }))
    for (let n = 0; n < 200; n++) await connector.execute('item', { n })
    const { cached } = connector.stats()
    expect(cached).toBeGreaterThan(10)
    expect(cached).toBeLessThan(50)
  })
})

describe('a request that is conditional by itself', () => {
  it.each(['If-None-Match', 'If-Modified-Since', 'If-Match', 'Range'])(
    'with %s is sent as it is',
    async (name) => {
      const endpoints = [{ name: 'item', path: '/item', headers: { [name]: 'own' } }]
      const { backend, clock, connector } = await setup({ endpoints })
      backend.answerNext({ json: 'first', headers: tagged }, second)
      await connector.execute('item')
      await clock.advance(10_000)
      expect(await connector.execute('item')).toBe('second')
      const { headers = {} } = backend.requests[1] ?? {}
      expect(headers[name.toLowerCase()]).toBe('own')
      expect(headers['if-none-match']).toBe(name === 'If-None-Match' ? 'own' : undefined)
    },
  )
})

/** An upstream whose resource has versions, each with a tag, and any headers: what is given out is never wrong. */
describe('whatever an upstream says', () => {
  const headers = fc.record({
    'cache-control': fc.constantFrom(
      'max-age=0',
      'max-age=2',
      'no-cache',
      'no-store',
      'max-age=1, stale-while-revalidate=3',
      'max-age=1, stale-if-error=5',
      'must-revalidate, max-age=1',
      '',
    ),
    isTagged: fc.boolean(),
  })
  const step = fc.oneof(
    fc.record({ kind: fc.constant('ask' as const), waitSeconds: fc.nat(4) }),
    fc.record({ kind: fc.constant('change' as const), headers }),
    fc.record({ kind: fc.constant('fail' as const), isFailing: fc.boolean() }),
  )

  it('never gives out anything older than it may', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 20 }), async (steps) => {
        const { backend, clock, connector, ask } = await setup()
        let version = 1
        let isFailing = false
        const wrong: unknown[] = []
        let own = { 'cache-control': 'max-age=1', isTagged: true }
        /** Until when each version may be given out by what came with it, at most. */
        const until = new Map<number, number>()
        backend.handle(({ headers: asked }) => {
          if (isFailing) return { status: 500 }
          const { isTagged, 'cache-control': control } = own
          const ages = [...control.matchAll(/=(\d+)/g)].map(([, digits]) => Number(digits))
          const seconds = control === '' ? 60 : /no-/.test(control) ? 0 : ages.reduce((a, b) => a + b, 0)
          until.set(version, Math.max(until.get(version) ?? 0, clock.now() + seconds * 1000))
          const sent = {
            ...(control && { 'cache-control': control }),
            ...(isTagged && { etag: `"${version}"` }),
          }
          const isSame = isTagged && asked['if-none-match'] === `"${version}"`
          return isSame ? { status: 304, headers: sent } : { json: version, headers: sent }
        })
        for (const one of steps) {
          if (one.kind === 'change') {
            version++
            own = one.headers
          } else if (one.kind === 'fail') isFailing = one.isFailing
          else {
            await clock.advance(one.waitSeconds * 1000)
            const given = await ask().then(
              ({ body }) => body as number,
              () => undefined,
            )
            const isAllowed = given === version || clock.now() < (until.get(given ?? 0) ?? 0)
            if (given === undefined ? !isFailing : !isAllowed) wrong.push(given)
          }
        }
        await connector.close()
        expect(wrong).toEqual([])
      }),
      { numRuns: 60, interruptAfterTimeLimit: 20_000 },
    )
  })
})
