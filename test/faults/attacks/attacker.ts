// Attacks in a process of their own, so that they do not take from those who are watched:
// attacker.ts <url of the gateway> <seed> <names of attacks>. SIGTERM ends them.
import { createRandom } from '@vinyasa/test-kit'
import { drawnAttacks } from './table.ts'

const [url = '', seed = '1', ...names] = process.argv.slice(2)
const { hostname: host, port } = new URL(url)
const target = { url, host, port: Number(port) }
const ended = new AbortController()
process.once('SIGTERM', () => ended.abort())
const attacks = names.map((name) => {
  const attack = drawnAttacks.find((one) => one.name === name)
  if (!attack)
    throw new Error(`no attack is named ${name}; there are ${drawnAttacks.map((one) => one.name).join(', ')}`)
  return attack
})
process.stdout.write('attacking\n')
await Promise.all(
  attacks.map((attack) =>
    attack.run({ target, random: createRandom(Number(seed), attack.name), signal: ended.signal }),
  ),
)
