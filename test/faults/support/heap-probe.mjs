// Loaded into a gateway before it starts: on SIGUSR2 it collects garbage and writes down what is left.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

process.on('SIGUSR2', () => {
  collect()
  // What finalizers and cleared weak references held goes in a second round.
  setTimeout(() => {
    collect()
    const { heapUsed, rss } = process.memoryUsage()
    process.stdout.write(`heap-probe ${heapUsed} ${rss}\n`)
  }, 50)
})
