import { expect, it } from 'vitest'
import { changeBundle } from '../src/graphiql/render.ts'

/** Milliseconds, the least of several. */
function timeOf(html: string): number {
  const times = Array.from({ length: 5 }, () => {
    const from = performance.now()
    changeBundle(html)
    return performance.now() - from
  })
  return Math.min(...times)
}

it('is changed in time that grows as the page does, long words included', () => {
  const page = (letters: number): string => `<script>${'a'.repeat(letters)} ${'b='.repeat(letters)}</script>`
  timeOf(page(1_000))
  expect(timeOf(page(64_000)) / timeOf(page(8_000))).toBeLessThan(24)
})
