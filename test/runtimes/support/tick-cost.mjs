// Once the program listens: prints what a tick costs at the least, in nanoseconds, after collections that found none.
import { setImmediate, setTimeout } from 'node:timers/promises'

const TURNS = 200
const TICKS = 100
const nothing = () => {}

while (!process.getActiveResourcesInfo().includes('TCPServerWrap')) await setTimeout(20)
for (let time = 0; time < 10; time++) {
  process.nextTick(nothing)
  await setImmediate()
  globalThis.gc()
  await setImmediate()
}
let least = Number.POSITIVE_INFINITY
for (let round = 0; round < 20; round++) {
  const startedAt = performance.now()
  for (let turn = 0; turn < TURNS; turn++) {
    for (let tick = 0; tick < TICKS; tick++) process.nextTick(nothing)
    await setImmediate()
  }
  least = Math.min(least, (performance.now() - startedAt) / (TURNS * TICKS))
}
process.stdout.write(`a tick: ${Math.round(least * 1e6)} ns\n`)
process.exit()
