import { createDocumentRoom, usePipeline } from '@vinyasa/core/pipeline'
import { createSchema, createYoga } from 'graphql-yoga'
import { describe, expect, it } from 'vitest'
import { documentCache } from '../src/composition/compose.ts'

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

  it('errors of validation have their room, too: a document may have a hundred', async () => {
    const room = createDocumentRoom(8 * 1024 * 1024)
    const cache = documentCache(room)
    const schema = createSchema({ typeDefs: 'type Query { hello: String }' })
    const yoga = createYoga({ schema, parserAndValidationCache: cache, plugins: [usePipeline({ room })] })
    const sizes: number[] = []
    const ask = async (query: string): Promise<number> => {
      const body = JSON.stringify({ query })
      const headers = { 'content-type': 'application/json' }
      const response = await yoga.fetch('http://a/graphql', { method: 'POST', headers, body })
      sizes.push(room.size)
      return ((await response.json()) as { readonly errors: readonly unknown[] }).errors.length
    }
    const texts = Array.from({ length: 100 }, (_, index) => {
      const fields = Array.from({ length: 100 }, (_field, at) => `x${index}_${at}`)
      return `{ ${fields.join(' ')} }`
    })
    for (const text of texts) expect(await ask(text)).toBe(100)
    // Of a document, and 1,500 bytes of each of its errors.
    expect(sizes[0]).toBeGreaterThan(150_000)
    const kept = texts.filter((text) => typeof cache === 'object' && cache.documentCache?.get(text))
    expect(kept.length).toBeLessThan(50)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(8 * 1024 * 1024)
    // Not once more for each time that it comes.
    for (let time = 0; time < 3; time++) expect(await ask(texts.at(-1) as string)).toBe(100)
    expect(new Set(sizes.slice(-4)).size).toBe(1)
  })

  it('a thousand small texts are all kept', () => {
    const cache = caches().documentCache!
    const texts = Array.from({ length: 1000 }, (_, index) => `{ field${index} }`)
    for (const text of texts) cache.set(text, {} as never)
    expect(texts.every((text) => cache.get(text))).toBe(true)
  })
})
