import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Bytes of the heap that what `run` leaves holds over a collection of the young. What it is held by is old by then, as in a
 * process that has run for a while; `run` makes so many of the same.
 */
export function survivingBytes(run: (count: number) => void): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void
  run(1_000)
  collect()
  const before = process.memoryUsage().heapUsed
  run(1_000)
  collect({ type: 'minor' })
  return process.memoryUsage().heapUsed - before
}
