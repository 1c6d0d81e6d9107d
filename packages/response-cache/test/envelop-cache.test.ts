import { createInMemoryCache } from '@envelop/response-cache'
import { waitUntil } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'
import { fromEnvelopCache, type CacheEvent } from '../src/index.ts'
import type { EnvelopCache, EnvelopCacheRecord } from '../src/store/envelop-cache.ts'
import { ask, createWorld, type World } from './kit.ts'

const users = '{ users { id name } }'

type Matches = (record: EnvelopCacheRecord) => boolean

const matching = ({ typename, id }: EnvelopCacheRecord): Matches => {
  return (record) => record.typename === typename && (id === undefined || record.id === id)
}

/** The least that the interface asks for: objects in a Map, everything at once. */
function createMapCache(): EnvelopCache {
  const entries = new Map<string, { data: object; records: EnvelopCacheRecord[] }>()
  return {
    get: (id) => entries.get(id)?.data as never,
    set: (id, data, records) => void entries.set(id, { data, records: [...records] }),
    invalidate(records) {
      for (const hits of [...records].map(matching)) {
        for (const [id, entry] of entries) if (entry.records.some(hits)) entries.delete(id)
      }
    },
  }
}

interface Gate {
  open?: Promise<unknown>
  written: number
}

/** As over a network: text, and later. `gate` holds back what is written. */
function createRemoteCache(gate: Gate = { written: 0 }): EnvelopCache {
  const near = createMapCache()
  const later = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve))
  const overTheWire = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
  return {
    get: (id) => later().then(async () => overTheWire((await near.get(id)) ?? null)),
    async set(id, data, records, ttl) {
      await gate.open
      await later()
      await near.set(id, overTheWire(data), overTheWire([...records]), ttl)
      gate.written++
    },
    invalidate: (records) => later().then(() => near.invalidate(records)),
  }
}

const caches: readonly [string, () => EnvelopCache][] = [
  ["Envelop's own, in memory", () => createInMemoryCache()],
  ['a Map', createMapCache],
  ['one over a network', createRemoteCache],
]

describe.each(caches)('a cache for Envelop as a store: %s', (_name, create) => {
  it.each(['types', 'entities'] as const)(
    'serves, shares and is evicted by mutations (%s)',
    async (strategy) => {
      const store = (): ReturnType<typeof fromEnvelopCache> => fromEnvelopCache(shared)
      const shared = create()
      const one = createWorld({ cache: { store: store(), strategy } })
      const other = createWorld({ cache: { store: store(), strategy } })
      const miss = await ask(one, users)
      await waitUntil(() => one.cache.stats().stored === 1)
      const hit = await ask(other, users)
      expect([miss.cache, hit.cache, hit.text]).toEqual(['MISS', 'HIT', miss.text])
      await ask(one, '{ products { id } }')
      await waitUntil(() => one.cache.stats().stored === 2)
      await ask(other, 'mutation { renameUser(id: "1", name: "Eve") { id } }')
      expect((await ask(one, users)).cache).toBe('MISS')
      expect((await ask(one, '{ products { id } }')).cache).toBe('HIT')
      await one.cache.purge('all')
      expect((await ask(one, '{ products { id } }')).cache).toBe('MISS')
    },
  )

  it('removes one key', async () => {
    const keys: string[] = []
    const onEvent = (event: CacheEvent): unknown => event.type === 'stored' && keys.push(event.key)
    const world = createWorld({
      cache: { store: fromEnvelopCache(create()), onEvent: (e) => void onEvent(e) },
    })
    await ask(world, users)
    await waitUntil(() => keys.length === 1)
    expect((await ask(world, users)).cache).toBe('HIT')
    await world.cache.purge({ key: keys[0] ?? '' })
    expect((await ask(world, users)).cache).toBe('MISS')
  })
})

describe('a lifetime without an end', () => {
  it.each(caches)('is kept by a cache for Envelop: %s', async (_name, create) => {
    const world = createWorld({ cache: { store: fromEnvelopCache(create()), defaultTtlMs: Infinity } })
    await ask(world, users)
    await waitUntil(() => world.cache.stats().stored === 1)
    expect((await ask(world, users)).cache).toBe('HIT')
  })
})

describe('a cache for Envelop that is slow or fails', () => {
  /** A result is on its way into the cache while a mutation evicts it. */
  async function lateWrite(): Promise<{ gate: Gate; one: World; other: World; release: () => void }> {
    const gate: Gate = { written: 0 }
    const shared = createRemoteCache(gate)
    const [one, other] = [shared, shared].map((cache) =>
      createWorld({ cache: { store: fromEnvelopCache(cache) } }),
    ) as [World, World]
    let release = (): void => {}
    gate.open = new Promise<void>((resolve) => (release = resolve))
    await ask(one, users)
    await ask(one, 'mutation { renameUser(id: "1", name: "Eve") { id } }')
    return { gate, one, other, release }
  }

  it('a write that arrives after an invalidation is not served by who wrote it', async () => {
    const { gate, one, release } = await lateWrite()
    release()
    // Nor can it be removed.
    gate.open = new Promise(() => {})
    await waitUntil(() => gate.written === 1)
    expect((await ask(one, users)).json.data.users[0].name).toBe('Eve')
  })

  it('and is removed for all', async () => {
    const { gate, other, release } = await lateWrite()
    release()
    await waitUntil(() => gate.written === 2)
    expect((await ask(other, users)).cache).toBe('MISS')
  })

  it('a failing cache does not fail the request', async () => {
    const failing = {
      get: () => Promise.reject(new Error('down')),
      set: () => Promise.reject(new Error('down')),
      invalidate: () => Promise.reject(new Error('down')),
    }
    const world = createWorld({ cache: { store: fromEnvelopCache(failing) } })
    expect((await ask(world, users)).json.data.users).toHaveLength(2)
    const mutation = await ask(world, 'mutation { renameUser(id: "1", name: "Eve") { id } }')
    expect(mutation.json.data.renameUser.id).toBe('1')
    expect(world.cache.stats().errors).toBe(2)
  })
})
