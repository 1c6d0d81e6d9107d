import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { createJsonResult } from '../src/plan/json-result.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void

it('the result of a plan does not outlive a small collection', () => {
  const run = (count: number): void => {
    // In place of text, which is not all in the heap.
    for (let left = count; left > 0; left--)
      createJsonResult(Array.from({ length: 1_000 }, (_, at) => [at]) as never)
  }
  run(1_000)
  collect()
  const before = process.memoryUsage().heapUsed
  run(1_000)
  collect({ type: 'minor' })
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000)
})
