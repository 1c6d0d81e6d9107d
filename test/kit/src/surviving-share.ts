import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** About 500 kB in all, so that the young generation has room for them however small it is just now. */
const COUNT = 300
const BYTES_EACH = 1_600
const ATTEMPTS = 20
/** Less than anybody asks for: after it no attempt could say anything else. */
const LITTLE = 0.1

/**
 * How much of what `leave` was given holds over a collection of the young, from 0 to about 1. What holds it is old by then,
 * as in a process that has run for a while. The least of several attempts, of which none comes after one that is next to
 * nothing: what else the process does only adds to it. Vitest's configuration has V8 make nothing old at once, which it
 * would do, whatever holds them, with objects of a kind that lived long before in the process.
 */
export function survivingShare(leave: (much: object) => unknown): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void
  giveMuch(leave)
  let least = Infinity
  for (let left = ATTEMPTS; left > 0 && least > LITTLE; left--) {
    collect()
    const before = objectBytes()
    giveMuch(leave)
    collect({ type: 'minor' })
    least = Math.min(least, (objectBytes() - before) / (COUNT * BYTES_EACH))
  }
  return least
}

function giveMuch(leave: (much: object) => unknown): void {
  // In place of text, which is not all in the heap.
  for (let left = COUNT; left > 0; left--) leave(Array.from({ length: 25 }, (_, at) => [at]))
}

/** Bytes of the heap without its code, of which a function that is compiled anew takes 200 kB at once. */
function objectBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => !/code|trusted/.test(space_name))
    .reduce((bytes, { space_used_size }) => bytes + space_used_size, 0)
}
