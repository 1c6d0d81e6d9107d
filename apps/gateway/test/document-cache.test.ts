import { createDocumentRoom } from '@vinyasa/pipeline'
import { describe, expect, it } from 'vitest'
import { documentCache } from '../src/limits/document-cache.ts'

describe('what is kept of query texts', () => {
  function caches() {
    const room = createDocumentRoom()
    const cache = documentCache(room)
    if (typeof cache !== 'object') throw new Error('there is no cache')
    return { ...cache, room }
  }

  it('documents and errors: as many as their room holds', () => {
    const { documentCache: documents, errorCache: errors, room } = caches()
    const texts = Array.from({ length: 1_000 }, (_, index) => `${index} ${'#'.repeat(250_000)}`)
    for (const text of texts) {
      documents!.set(text, { text } as never)
      errors!.set(text, new Error(text))
    }
    const kept =
      texts.filter((text) => documents!.get(text)).length + texts.filter((text) => errors!.get(text)).length
    // Two bytes a character, and 3 kB.
    expect(kept).toBeGreaterThan(110)
    expect(kept).toBeLessThan(140)
    expect(room.size).toBeLessThanOrEqual(64 * 1024 * 1024)
    expect(documents!.get(texts.at(-1)!)).toBeDefined()
    documents!.set('#'.repeat(2_100_000), {} as never)
    expect(documents!.get('#'.repeat(2_100_000))).toBeUndefined()
  })

  it('a thousand small texts are all kept', () => {
    const cache = caches().documentCache!
    const texts = Array.from({ length: 1000 }, (_, index) => `{ field${index} }`)
    for (const text of texts) cache.set(text, {} as never)
    expect(texts.every((text) => cache.get(text))).toBe(true)
  })
})
