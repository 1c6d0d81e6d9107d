// Loaded into a gateway before it starts: between two SIGUSR2s it looks at each turn of the event loop, and at the end writes
// down the processor time of the longest one and of all of them, in milliseconds.
let longest = 0
let first = 0
let last = 0
let isLooking = false

const used = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

function look() {
  if (!isLooking) return
  const now = used()
  longest = Math.max(longest, now - last)
  last = now
  setImmediate(look)
}

process.on('SIGUSR2', () => {
  isLooking = !isLooking
  if (isLooking) {
    longest = 0
    first = last = used()
    setImmediate(look)
  }
  process.stdout.write(isLooking ? 'loop-probe begins\n' : `loop-probe ${longest} ${used() - first}\n`)
})
