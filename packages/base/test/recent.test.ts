import { describe, expect, it } from 'vitest'
import { createRecent } from '../src/index.ts'

describe('what is recent', () => {
  it('is kept while a thousand others come once', () => {
    const recent = createRecent<number>({ maxEntries: 10 })
    recent.set('hot', 1)
    for (let other = 0; other < 1_000; other++) {
      recent.set(`${other}`, other)
      expect(recent.get('hot')).toBe(1)
    }
  })

  it('leaves where nobody asks for it, the oldest first', () => {
    const recent = createRecent<number>({ maxEntries: 2 })
    recent.set('a', 1)
    recent.set('b', 2)
    recent.set('c', 3)
    expect(['a', 'b', 'c'].map((key) => recent.get(key))).toEqual([undefined, 2, 3])
    // Both were asked for: the oldest leaves all the same, and not what just came.
    recent.set('d', 4)
    expect(['b', 'c', 'd'].map((key) => recent.get(key)).filter(Boolean)).toHaveLength(2)
  })

  it.each([1, 2, 3, 8])('is within its bounds, and right, whatever is asked and told: %i', (maxEntries) => {
    const recent = createRecent<string>({ maxEntries, maxCharacters: 12 })
    let seed = maxEntries
    const below = (bound: number): number => (seed = (seed * 48_271) % 2_147_483_647) % bound
    for (let step = 0; step < 5_000; step++) {
      const key = 'abcdef'.slice(below(6)).repeat(1 + below(3))
      if (below(2) === 0) recent.set(key, `value of ${key}`)
      expect([undefined, `value of ${key}`]).toContain(recent.get(key))
      expect(recent.size).toBeLessThanOrEqual(maxEntries)
    }
    const keys = new Set(
      Array.from({ length: 6 }, (_, at) => [1, 2, 3].map((n) => 'abcdef'.slice(at).repeat(n))).flat(),
    )
    const kept = [...keys].filter((key) => recent.get(key) !== undefined)
    expect(kept.join('').length).toBeLessThanOrEqual(12)
  })
})
