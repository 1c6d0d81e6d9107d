import { createFakeClock } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { createResponseCache } from '../../src/call/cache/response-cache.ts'

const MINUTE_MS = 60_000

function createCache() {
  const clock = createFakeClock()
  const cache = createResponseCache({
    size: 1_000,
    maxBytes: 2 ** 24,
    ttlMs: MINUTE_MS,
    clock,
    isInTouch: () => true,
    maxAgeMs: () => Infinity,
  })
  const store = (key: string, headers: Record<string, string> = {}): void =>
    cache.set(key, () => new Set(), { status: 200, headers, body: key }, cache.mark())
  return { clock, cache, store }
}

it('removes expired responses within two seconds, although they are not requested again', async () => {
  const { clock, cache, store } = createCache()
  for (let index = 0; index < 500; index++) store(`${index}`)
  await clock.advance(MINUTE_MS)
  expect(cache.size).toBe(500)
  await clock.advance(2_000)
  expect([cache.size, clock.pending()]).toEqual([0, 0])
})

it('keeps a response for as long as it can be served while it is stale', async () => {
  const { clock, cache, store } = createCache()
  store('a', { 'cache-control': 'max-age=1, stale-if-error=40' })
  store('b', { 'cache-control': 'max-age=1, stale-while-revalidate=20' })
  await clock.advance(15_000)
  expect(cache.size).toBe(2)
  await clock.advance(20_000)
  expect(cache.size).toBe(1)
  await clock.advance(20_000)
  expect(cache.size).toBe(0)
})

it('keeps an expired response that can be revalidated', async () => {
  const { clock, cache, store } = createCache()
  store('a', { etag: '"1"' })
  await clock.advance(10 * MINUTE_MS)
  expect(cache.get('a')?.use).toBe('after asking')
})

it('stops its timer when it is cleared', () => {
  const { clock, cache, store } = createCache()
  store('a')
  cache.clear()
  expect(clock.pending()).toBe(0)
})
