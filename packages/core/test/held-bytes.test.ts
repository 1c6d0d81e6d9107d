import { expect, it } from 'vitest'
import { heldBytes } from '../src/index.ts'

/** Shapes of JSON with the bytes that each item takes in V8, measured with Node 20. */
const SHAPES: readonly (readonly [shape: string, bytes: number, item: (index: number) => string])[] = [
  ['empty objects', 64, () => '{}'],
  ['empty lists', 40, () => '[]'],
  ['lists with one list', 96, () => '[[]]'],
  ['objects with one property', 41, () => '{"a":0}'],
  ['objects with different properties', 160, (index) => `{"${index.toString(36)}a":0}`],
  ['objects with numeric property names', 209, (index) => `{"${index % 1_000}":0}`],
  ['integers', 8, () => '1'],
  ['fractions among other items', 24, (index) => (index === 0 ? '"a"' : '1.5')],
  ['strings', 41, (index) => `"x${index}xxxxxxxx"`],
]

it.each(SHAPES)('estimates %s at half to four times their real %d bytes', (_, bytes, item) => {
  const count = 10_000
  const json = `[${Array.from({ length: count }, (__, index) => item(index)).join()}]`
  const perItem = heldBytes(JSON.parse(json)) / count
  expect(perItem).toBeGreaterThan(bytes / 2)
  expect(perItem).toBeLessThan(4 * bytes)
})

it('counts the characters of long and deeply nested strings', () => {
  const depth = 100_000
  const deep: unknown = JSON.parse(`${'['.repeat(depth)}"${'x'.repeat(1_000_000)}"${']'.repeat(depth)}`)
  expect(heldBytes(deep)).toBeGreaterThan(1_000_000 + 56 * depth)
  expect(heldBytes({ [`${'x'.repeat(1_000)}`]: null })).toBeGreaterThan(2_000)
  expect(heldBytes(new Uint8Array(1_000))).toBe(1_000)
})
