// Prints what a tick costs at the least, in nanoseconds, once collections have passed that found none. `keep`: one is kept.
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { keepTickShape } from '../../src/keep-tick-shape.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const nothing = (): void => {}

if (process.argv[2] === 'keep') keepTickShape()
for (let time = 0; time < 10; time++) {
  process.nextTick(nothing)
  await setImmediate()
  collect()
  await setImmediate()
}

const TURNS = 200
const TICKS = 100
let least = Number.POSITIVE_INFINITY
for (let round = 0; round < 20; round++) {
  const startedAt = performance.now()
  for (let turn = 0; turn < TURNS; turn++) {
    for (let tick = 0; tick < TICKS; tick++) process.nextTick(nothing)
    await setImmediate()
  }
  least = Math.min(least, (performance.now() - startedAt) / (TURNS * TICKS))
}
console.log(Math.round(least * 1e6))
