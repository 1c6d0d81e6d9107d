import { onScriptShellEnd } from '@vinyasa/core'
import { formatBanner } from './banner.ts'
import { startDemo } from './demo.ts'

const { HOST = '127.0.0.1', PORT = '4000', USERS_PORT = '50051', SHOP_PORT = '4010' } = process.env
const GRACE_MS = 10_000

const interrupted = new AbortController()
const demo = startDemo({
  ports: { users: USERS_PORT, shop: SHOP_PORT, gateway: PORT },
  host: HOST,
  print: (line) => console.log(line),
  signal: interrupted.signal,
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => interrupted.abort())
}
onScriptShellEnd(() => interrupted.abort())
// Whoever read the output has gone.
process.stdout.on('error', () => interrupted.abort())
const interruption = new Promise<string>((resolve) => {
  interrupted.signal.addEventListener('abort', () => resolve('interrupted'))
})

try {
  const addresses = await Promise.race([demo.ready, interruption])
  if (typeof addresses !== 'string') {
    console.log(formatBanner(addresses))
    const reason = await Promise.race([demo.broken, interruption])
    if (!interrupted.signal.aborted) throw new Error(reason)
  }
} catch (error) {
  if (!interrupted.signal.aborted) {
    console.error(`The demo stops: ${(error as Error).message.replace(/\s+/g, ' ')}`)
    process.exitCode = 1
  }
}
await demo.stop(GRACE_MS)
process.exit()
