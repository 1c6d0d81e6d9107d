import { expect, it } from 'vitest'
import { createLiveQueryStore } from '../src/index.ts'
import type { LiveQueryRegistration } from '../src/store/subscriber.ts'

const registration = (id: string, ends: string[]): LiveQueryRegistration => ({
  id,
  key: null,
  plan: {
    strategy: 'INVALIDATION',
    triggers: ['A.*'],
    throttleMs: 0,
    pollIntervalMs: 0,
    ttlSeconds: 0,
    volatility: undefined,
    maxConnections: new Map(),
  },
  execute: () => Promise.resolve({ data: null }),
  channel: { ready: () => true, next() {}, end: () => void ends.push(id) },
})

it('a store takes an id once at a time, and completes all and takes none once it is closed', () => {
  const ends: string[] = []
  const store = createLiveQueryStore()
  store.register(registration('a', ends))
  expect(() => store.register(registration('a', ends))).toThrow(
    expect.objectContaining({ code: 'LIVE_QUERY_DUPLICATE_ID' }),
  )
  store.register(registration('b', ends))
  expect(store.unregister('b')?.id).toBe('b')
  store.register(registration('b', ends))
  store.close()
  expect(ends).toEqual(['a', 'b'])
  expect(() => store.register(registration('c', ends))).toThrow(
    expect.objectContaining({ code: 'LIVE_QUERY_STORE_CLOSED' }),
  )
  expect(store.stats().subscriptions).toBe(0)
})
