import { array, assert, constantFrom, integer, oneof, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByteCollector } from '../src/index.ts'

describe('ByteCollector', () => {
  it('returns the bytes of any chunks and holds at most twice their size', () => {
    assert(
      property(array(oneof(integer({ min: 0, max: 20 }), constantFrom(4_095, 4_096, 70_000))), (sizes) => {
        const collector = new ByteCollector()
        const chunks = sizes.map((size, index) => Buffer.alloc(size, index + 1))
        for (const chunk of chunks) collector.add(chunk)
        const expected = Buffer.concat(chunks)
        expect(collector.length).toBe(expected.length)
        expect(collector.heldBytes).toBeLessThanOrEqual(2 * expected.length + 4_096 + 65_536)
        expect(collector.take().equals(expected)).toBe(true)
        expect(collector.heldBytes).toBe(0)
      }),
      { numRuns: 200 },
    )
  })

  it('holds one-byte chunks in about their own size', () => {
    const collector = new ByteCollector()
    for (let index = 0; index < 1_000_000; index++) collector.add(Buffer.from([7]))
    expect(collector.heldBytes).toBeLessThan(1_100_000)
    expect(collector.take().length).toBe(1_000_000)
  })

  it.each([
    { size: 1, count: 1_000, isShredded: false },
    { size: 1, count: 1_100, isShredded: true },
    { size: 63, count: 5_000, isShredded: true },
    { size: 64, count: 5_000, isShredded: false },
  ])('$count chunks of $size bytes: shredded is $isShredded', ({ size, count, isShredded }) => {
    const collector = new ByteCollector()
    for (let index = 0; index < count; index++) collector.add(Buffer.alloc(size))
    expect(collector.isShredded).toBe(isShredded)
  })
})
