// Loaded into a gateway before it starts: on SIGUSR2 it writes down the event loop's delay since the last time, collects
// garbage and writes down what is left.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

const delay = monitorEventLoopDelay({ resolution: 10 })
delay.enable()

process.on('SIGUSR2', () => {
  const delayMs = delay.percentile(99) / 1e6
  collect()
  // What finalizers and cleared weak references held goes in a second round.
  setTimeout(() => {
    collect()
    const { heapUsed, rss, external } = process.memoryUsage()
    process.stdout.write(`heap-probe ${heapUsed} ${rss} ${delayMs} ${external}\n`)
    delay.reset()
  }, 50)
})
