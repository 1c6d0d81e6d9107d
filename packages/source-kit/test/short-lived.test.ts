import { survivingBytes } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { createJsonResult } from '../src/plan/json-result.ts'

it('the result of a plan does not outlive a small collection', () => {
  const run = (count: number): void => {
    // In place of text, which is not all in the heap.
    for (let left = count; left > 0; left--)
      createJsonResult(Array.from({ length: 1_000 }, (_, at) => [at]) as never)
  }
  expect(survivingBytes(run)).toBeLessThan(5_000_000)
})
