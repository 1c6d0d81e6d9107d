import { survivingShare } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { createJsonResult } from '../src/answer/json-result.ts'

it('the result of a plan does not outlive a small collection', () => {
  // In place of text, which is not all in the heap.
  expect(survivingShare((much) => createJsonResult(much as never))).toBeLessThan(0.3)
})
