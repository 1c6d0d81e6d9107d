// The gateway as its users start it: the built command, a config file, the production preset. Plain JavaScript, so that
// nothing but the gateway's own loader runs here.
import { readFileSync } from 'node:fs'
import { Server } from 'node:http'
import { fileURLToPath } from 'node:url'

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url))

// What the benchmark asks of a program: see src/serve-program.ts.
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send({ cpuMicros: user + system, rssBytes: process.memoryUsage.rss() })
})
process.on('disconnect', () => process.exit(0))

const { version } = JSON.parse(readFileSync(path('../../../apps/gateway/package.json'), 'utf8'))
const { listen } = Server.prototype
Server.prototype.listen = function (...args) {
  this.once('listening', () =>
    process.send({
      url: `http://127.0.0.1:${this.address().port}`,
      versions: { '@vinyasa/gateway': version },
    }),
  )
  return listen.apply(this, args)
}

if (process.env.BENCH_TRACES) await import('./trace-sdk.mjs')

const command = path('../../../apps/gateway/dist/main.js')
const config = path(process.env.BENCH_CONFIG ?? 'gateway.config.mjs')
process.argv = [
  process.execPath,
  command,
  'start',
  '--config',
  config,
  '--preset',
  'production',
  '--port',
  '0',
]
await import(command)
