import { createFakeClock } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'
import { cacheControlTypeDefs } from '../src/index.ts'
import { ask, createWorld, typeDefs, type World } from './kit.ts'

function annotated(annotate: (sdl: string) => string, options = {}): World {
  return createWorld({ typeDefs: cacheControlTypeDefs + annotate(typeDefs), cache: options })
}

describe('@cacheControl', () => {
  it('maxAge is in seconds and wins over default_ttl; the minimum of type and field wins', async () => {
    const clock = createFakeClock()
    const world = annotated(
      (sdl) =>
        sdl
          .replace('type User {', 'type User @cacheControl(maxAge: 300) {')
          .replace('users: [User!]!', 'users: [User!]! @cacheControl(maxAge: 100)'),
      { platform: { clock } },
    )
    await ask(world, '{ users { id } }')
    await clock.advance(99_999)
    expect((await ask(world, '{ users { id } }')).cache).toBe('HIT')
    await clock.advance(1)
    expect((await ask(world, '{ users { id } }')).cache).toBe('MISS')
  })

  it('maxAge 0 is never cached', async () => {
    const world = annotated((sdl) => sdl.replace('type Post {', 'type Post @cacheControl(maxAge: 0) {'))
    for (let round = 0; round < 2; round++) {
      expect((await ask(world, '{ users { posts { id } } }')).cache).toBe('BYPASS')
    }
    await ask(world, '{ users { id } }')
    expect((await ask(world, '{ users { id } }')).cache).toBe('HIT')
  })

  it('PRIVATE without an identity is not stored', async () => {
    const world = annotated((sdl) => sdl.replace('me: User', 'me: User @cacheControl(scope: PRIVATE)'))
    await ask(world, '{ me { id } }')
    expect((await ask(world, '{ me { id } }')).cache).toBe('BYPASS')
    const headers = { authorization: 'Bearer a' }
    await ask(world, '{ me { id } }', { headers })
    expect((await ask(world, '{ me { id } }', { headers })).cache).toBe('HIT')
  })
})

it('does not cache operations that can return a type with a lifetime of 0', async () => {
  const world = createWorld({ cache: { ttlMsBySchemaCoordinate: { Product: 0 } } })
  await ask(world, '{ things { ... on User { id } } }')
  expect((await ask(world, '{ things { ... on User { id } } }')).cache).toBe('BYPASS')
})

it('six nested lists on a miss cost at most twice the uncached CPU', { timeout: 240_000 }, async () => {
  const nested =
    '{ users { id posts { id author { id posts { id author { id posts { id author { id posts { id author { id name } } } } } } } } } }'
  const off = createWorld({ cache: { enabled: () => false } })
  const types = createWorld({ cache: { maxSize: 0 } })
  const entities = createWorld({ cache: { maxSize: 0, strategy: 'entities' } })
  const cpu = async (world: World): Promise<number> => {
    const before = process.cpuUsage()
    for (let count = 0; count < 60; count++) await ask(world, nested)
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  for (const world of [off, types, entities]) await cpu(world)
  const ratios = { types: [] as number[], entities: [] as number[] }
  for (let round = 0; round < 5; round++) {
    const uncached = await cpu(off)
    ratios.types.push((await cpu(types)) / uncached)
    ratios.entities.push((await cpu(entities)) / uncached)
  }
  const median = (list: number[]): number => list.sort((a, b) => a - b)[2] ?? Number.NaN
  process.stdout.write(
    `miss / uncached: types ${median(ratios.types).toFixed(2)}, entities ${median(ratios.entities).toFixed(2)}\n`,
  )
  expect(median(ratios.types)).toBeLessThan(2)
  expect(median(ratios.entities)).toBeLessThan(2)
})
