import { backgroundClock } from '@vinyasa/core'
import { array, assert, constantFrom, nat, oneof, property, record } from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { etagOf, LazyEntry, offHeap, type CacheEntry } from '../src/store/entry.ts'
import { createMemoryStore } from '../src/store/entries.ts'
import { createResponseCache } from '../src/index.ts'

const MAX_BYTES = 64_000
const clock = backgroundClock

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function entryOf(body: string | Buffer, ttlMs = 1_000, staleMs = 0): CacheEntry {
  return new LazyEntry(body, { storedAt: clock.now(), ttlMs, staleMs, tags: [], version: 0 })
}

describe('memory', () => {
  it('never holds more than it may, in bytes nor in entries, and no entry above a sixteenth', () => {
    const bodies = oneof(
      nat(6_000).map((length) => 'a'.repeat(length)),
      nat(3_000).map((length) => 'ä€'.repeat(length)),
      nat(6_000).map((length) => Buffer.alloc(length)),
    )
    const steps = array(
      oneof(
        record({ act: constantFrom('set' as const), key: nat(40).map(String), body: bodies }),
        record({
          act: constantFrom(
            'get' as const,
            'delete' as const,
            'read' as const,
            'wait' as const,
            'clear' as const,
          ),
          key: nat(40).map(String),
        }),
      ),
      { maxLength: 120 },
    )
    assert(
      property(steps, nat(30), (given, maxSize) => {
        const evicted: string[] = []
        const store = createMemoryStore({
          maxSize,
          maxBytes: MAX_BYTES,
          clock,
          onEvict: (key) => evicted.push(key),
        })
        const held = new Map<string, CacheEntry>()
        for (const step of given) {
          const { act, key } = step
          const entry = 'body' in step ? entryOf(step.body) : undefined
          const acts = {
            set: () => {
              store.set(key, entry!)
              held.delete(key)
              const isSmall = maxSize > 0 && Buffer.byteLength(entry!.body) + 512 <= MAX_BYTES / 16
              if (isSmall) held.set(key, entry!)
              for (const gone of evicted.splice(0)) held.delete(gone)
              return [store.takes(entry!), isSmall]
            },
            get: () => [store.get(key), held.get(key)],
            read: () => [store.get(key)?.body.length, held.get(key)?.body.length],
            delete: () => [store.delete(key), held.delete(key)],
            clear: () => {
              store.clear()
              held.clear()
              return [store.size, 0]
            },
            wait: () => {
              vi.advanceTimersByTime(600)
              for (const [one, { storedAt }] of held)
                if (store.get(one) === undefined && clock.now() - storedAt > 1_000) held.delete(one)
              return [true, true]
            },
          }
          const [seen, expected] = acts[act]()
          expect(seen).toBe(expected)
          expect(store.size).toBe(held.size)
          expect(store.size).toBeLessThanOrEqual(maxSize)
          expect(store.bytes).toBeLessThanOrEqual(MAX_BYTES)
          const least = [...held.values()].reduce((sum, entry) => sum + Buffer.byteLength(entry.body), 0)
          expect(store.bytes).toBeGreaterThanOrEqual(least)
        }
        store.clear()
        expect(store.bytes).toBe(0)
        expect(vi.getTimerCount()).toBe(0)
      }),
      { numRuns: 200 },
    )
  })

  it('removes an expired entry within two seconds, also if it was read just after it expired', () => {
    const store = createMemoryStore({ maxSize: 20_000, maxBytes: 2 ** 26, clock, onEvict: () => {} })
    store.set('short', entryOf('a', 1_500))
    for (let index = 0; index < 9_999; index++) store.set(`${index}`, entryOf('a', 3_600_000))
    vi.advanceTimersByTime(1_501)
    store.get('short')
    vi.advanceTimersByTime(2_000)
    expect(store.size).toBe(9_999)
    store.clear()
  })

  it('removes expired entries in parts, and then stops its timer', () => {
    const store = createMemoryStore({ maxSize: 50_000, maxBytes: 2 ** 26, clock, onEvict: () => {} })
    for (let index = 0; index < 25_000; index++)
      store.set(`${index}`, entryOf('a', index % 5 === 0 ? 60_000 : 500))
    const sizes = new Set<number>()
    for (let elapsed = 0; elapsed < 10_000; elapsed += 10) {
      vi.advanceTimersByTime(10)
      sizes.add(store.size)
    }
    expect([...sizes]).toEqual([25_000, 15_000, 5_000])
    vi.advanceTimersByTime(63_000)
    expect([store.size, vi.getTimerCount()]).toEqual([0, 0])
  })

  it.each([1_200, 30_000])(
    'removes expired entries while %d other entries are read all the time',
    (count) => {
      const store = createMemoryStore({ maxSize: 50_000, maxBytes: 2 ** 26, clock, onEvict: () => {} })
      const read = Array.from({ length: count }, (_none, index) => `read ${index}`)
      for (const key of read) store.set(key, entryOf('a', 3_600_000))
      for (let index = 0; index < 500; index++) store.set(`unread ${index}`, entryOf('a', 2_000))
      for (let elapsed = 0; elapsed < 4_000; elapsed += 400) {
        vi.advanceTimersByTime(400)
        for (const key of read) store.get(key)
      }
      expect(store.size).toBe(count)
      store.clear()
    },
  )

  it('keeps no memory around a body, which maxBytes would not count', () => {
    const body = Buffer.alloc(300_000).subarray(10, 150_000)
    expect(entryOf(body).body).toEqual(body)
    expect(entryOf(body).body.buffer.byteLength).toBe(body.length)
    const whole = Buffer.alloc(300_000)
    expect(entryOf(whole).body).toBe(whole)
  })

  it('serves what is stale until that ends too', () => {
    const store = createMemoryStore({ maxSize: 10, maxBytes: 2 ** 20, clock, onEvict: () => {} })
    store.set('a', entryOf('a', 1_000, 5_000))
    vi.advanceTimersByTime(5_900)
    expect(store.size).toBe(1)
    vi.advanceTimersByTime(2_000)
    expect(store.size).toBe(0)
  })
})

it.each([Number.NaN, -1])('maxBytes %d is refused', (maxBytes) => {
  expect(() => createResponseCache({ maxBytes })).toThrow('maxBytes')
})

it('a long answer is kept as the very bytes that are sent, and a short one as its text', () => {
  const long = JSON.stringify({ data: 'ü'.repeat(70_000) })
  const bytes = offHeap(long)
  expect(bytes).toEqual(Buffer.from(long))
  expect(entryOf(bytes).body).toBe(bytes)
  expect(offHeap(bytes)).toBe(bytes)
  expect(offHeap('{"data":1}')).toBe('{"data":1}')
})

it('hashes the body of an entry once for all its ETags', () => {
  let reads = 0
  const entry = {
    get body() {
      reads++
      return Buffer.from('a')
    },
  }
  const etags = [1, 2, 3].map(() => etagOf(entry))
  expect([new Set(etags).size, reads]).toEqual([1, 1])
})
