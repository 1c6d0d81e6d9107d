import { describe, expect, it } from 'vitest'
import { documentCache } from '../src/limits/document-cache.ts'

describe('what is kept of query texts', () => {
  function caches() {
    const cache = documentCache()
    if (typeof cache !== 'object') throw new Error('there is no cache')
    return cache
  }

  it.each(['documentCache', 'errorCache'] as const)('%s: no more than half a million characters', (name) => {
    const cache = caches()[name]!
    const texts = Array.from({ length: 100 }, (_, index) => `${index} ${'#'.repeat(50_000)}`)
    for (const text of texts) cache.set(text, new Error(text) as never)
    expect(texts.filter((text) => cache.get(text))).toHaveLength(10)
    expect(cache.get(texts.at(-1)!)).toBeDefined()
    cache.set('#'.repeat(600_000), new Error('too long') as never)
    expect(cache.get('#'.repeat(600_000))).toBeUndefined()
  })

  it('a thousand small texts are all kept', () => {
    const cache = caches().documentCache!
    const texts = Array.from({ length: 1000 }, (_, index) => `{ field${index} }`)
    for (const text of texts) cache.set(text, {} as never)
    expect(texts.every((text) => cache.get(text))).toBe(true)
  })
})
