import { createFakeClock } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'
import { LazyEntry } from '../src/store/entry.ts'
import { storedAtHere, withWallTime } from '../src/store/entries.ts'
import { ask, createWorld } from './kit.ts'

const STEPS = [-3_600_000, -60_000, 60_000, 3_600_000]
const users = '{ users { id } }'

describe.each(STEPS)('the wall clock steps by %d ms', (step) => {
  it('in memory an entry lives as long as ever', async () => {
    const clock = createFakeClock()
    const world = createWorld({ cache: { defaultTtlMs: 3_000, platform: { clock } } })
    expect((await ask(world, users)).cache).toBe('MISS')
    clock.stepWall(step)
    await clock.advance(2_000)
    const hit = await ask(world, users)
    expect([hit.cache, hit.headers.get('age')]).toEqual(['HIT', '2'])
    await clock.advance(11_000)
    expect((await ask(world, users)).cache).toBe('MISS')
    await world.cache.close()
  })

  it('an entry of a shared store is never younger than it is', () => {
    const clock = createFakeClock()
    const body = new LazyEntry('{}', {
      storedAt: clock.now(),
      ttlMs: 3_000,
      staleMs: 0,
      tags: [],
      version: 0,
    })
    const stored = withWallTime(clock, body).storedAt
    clock.stepWall(step)
    const age = clock.now() - storedAtHere(clock, stored)
    expect(age).toBe(step < 0 ? Infinity : step)
    // What is stored after the step is as old as it is.
    expect(clock.now() - storedAtHere(clock, withWallTime(clock, body).storedAt)).toBe(0)
  })
})

it('a difference between the clocks of two machines is no age', () => {
  const clock = createFakeClock()
  expect(clock.now() - storedAtHere(clock, clock.wallNow() + 900)).toBe(0)
  expect(clock.now() - storedAtHere(clock, clock.wallNow() - 900)).toBe(900)
})
