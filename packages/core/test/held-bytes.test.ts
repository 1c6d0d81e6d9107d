import { expect, it } from 'vitest'
import { heldBytes } from '../src/index.ts'

/** Shapes of JSON, by the bytes that V8 takes for each of their items (Node 20, measured). */
const SHAPES: readonly (readonly [shape: string, bytes: number, item: (index: number) => string])[] = [
  ['empty objects', 64, () => '{}'],
  ['empty lists', 40, () => '[]'],
  ['lists of a list', 96, () => '[[]]'],
  ['objects with a member', 41, () => '{"a":0}'],
  ['objects with members of their own', 160, (index) => `{"${index.toString(36)}a":0}`],
  ['objects with numbers as names', 209, (index) => `{"${index % 1_000}":0}`],
  ['whole numbers', 8, () => '1'],
  ['fractions among other items', 24, (index) => (index === 0 ? '"a"' : '1.5')],
  ['strings', 41, (index) => `"x${index}xxxxxxxx"`],
]

it.each(SHAPES)('%s: at least half of the %d bytes that each takes, at most four times', (_, bytes, item) => {
  const count = 10_000
  const json = `[${Array.from({ length: count }, (__, index) => item(index)).join()}]`
  const perItem = heldBytes(JSON.parse(json)) / count
  expect(perItem).toBeGreaterThan(bytes / 2)
  expect(perItem).toBeLessThan(4 * bytes)
})

it('counts characters of long strings, however deep they are nested', () => {
  const depth = 100_000
  const deep: unknown = JSON.parse(`${'['.repeat(depth)}"${'x'.repeat(1_000_000)}"${']'.repeat(depth)}`)
  expect(heldBytes(deep)).toBeGreaterThan(1_000_000 + 56 * depth)
  expect(heldBytes({ [`${'x'.repeat(1_000)}`]: null })).toBeGreaterThan(2_000)
  expect(heldBytes(new Uint8Array(1_000))).toBe(1_000)
})
