import { createInMemoryCache } from '@envelop/response-cache'
import { describe, expect, it } from 'vitest'
import { fromEnvelopCache } from '../src/index.ts'
import { ask, createWorld } from './kit.ts'

const users = '{ users { id name } }'

describe("Envelop's own in-memory cache as a store", () => {
  it.each(['types', 'entities'] as const)(
    'serves, shares and is evicted by mutations (%s)',
    async (strategy) => {
      const store = (): ReturnType<typeof fromEnvelopCache> => fromEnvelopCache(shared)
      const shared = createInMemoryCache()
      const one = createWorld({ cache: { store: store(), strategy } })
      const other = createWorld({ cache: { store: store(), strategy } })
      const miss = await ask(one, users)
      const hit = await ask(other, users)
      expect([miss.cache, hit.cache, hit.text]).toEqual(['MISS', 'HIT', miss.text])
      await ask(one, '{ products { id } }')
      await ask(other, 'mutation { renameUser(id: "1", name: "Eve") { id } }')
      expect((await ask(one, users)).cache).toBe('MISS')
      expect((await ask(one, '{ products { id } }')).cache).toBe('HIT')
      await one.cache.purge('all')
      expect((await ask(one, '{ products { id } }')).cache).toBe('MISS')
    },
  )

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
