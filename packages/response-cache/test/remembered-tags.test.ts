import { createInvalidationBus, type InvalidationEvent } from '@vinyasa/invalidation'
import { describe, expect, it } from 'vitest'
import { entityTag, typeOfTag } from '../src/store/entry.ts'
import { ask, createWorld } from './kit.ts'

const user = '{ user(id: "1") { id } }'

/** Caches a user, publishes events, and returns whether the user is served from the cache. */
async function cacheAfter(events: readonly InvalidationEvent[]): Promise<string | null> {
  const bus = createInvalidationBus()
  const world = createWorld({ cache: { bus, strategy: 'entities' } })
  await ask(world, user)
  await bus.publish(events)
  return (await ask(world, user)).cache
}

const update = (entityType: string, entityId?: string): InvalidationEvent => ({
  entityType,
  operation: 'update',
  ...(entityId !== undefined && { entityId }),
})
const ids = (type: string, count: number): InvalidationEvent[] =>
  Array.from({ length: count }, (_, index) => update(type, `new ${index}`))
const types = (count: number): InvalidationEvent[] =>
  Array.from({ length: count }, (_, index) => update(`Type${index}`))

describe('invalidations that the cache remembers', () => {
  it.each([
    ['9,000 ids of the type', ids('User', 9_000), 'HIT'],
    // All entities of the type then count as changed.
    ['11,000 ids of the type', ids('User', 11_000), 'MISS'],
    ['11,000 ids of another type', ids('Product', 11_000), 'HIT'],
    ['9,000 types', types(9_000), 'HIT'],
    // All types then count as changed.
    ['11,000 types', types(11_000), 'MISS'],
  ])('%s', async (_, events, expected) => {
    expect(await cacheAfter(events)).toBe(expected)
  })

  it('are short, however long an id is', () => {
    const [one, other] = ['a', 'b'].map((end) => entityTag('User', 'x'.repeat(1_000_000) + end))
    expect(one).not.toBe(other)
    expect(one?.length).toBeLessThan(300)
    expect(typeOfTag(one ?? '')).toBe('User')
    expect(entityTag('User', 'x'.repeat(200))).toBe(`User:${'x'.repeat(200)}`)
  })
})
