// An attack in a process of its own, so that it does not take from those who are watched:
// attacker.ts <url of the gateway> <name of the attack> <seed>. SIGTERM ends it.
import { createRandom } from '@vinyasa/test-kit'
import { attacks } from './table.ts'

const [url = '', name = '', seed = '1'] = process.argv.slice(2)
const attack = attacks.find((one) => one.name === name)
if (!attack)
  throw new Error(`no attack is named ${name}; there are ${attacks.map((one) => one.name).join(', ')}`)
const ended = new AbortController()
process.once('SIGTERM', () => ended.abort())
const { hostname: host, port } = new URL(url)
process.stdout.write('attacking\n')
await attack.run({
  target: { url, host, port: Number(port) },
  random: createRandom(Number(seed), name),
  signal: ended.signal,
})
