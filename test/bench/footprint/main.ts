// What a started gateway takes of memory: by itself, for each answer that it keeps, for each client's connection that it holds.
// Reads /proc: Linux only.
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createDisposables } from '@vinyasa/test-kit'
import { markdownTable, spreadOf, writeSection } from '../src/index.ts'
import { machineOf } from '../src/machine.ts'
import { usageOf } from '../src/process-usage.ts'
import { startGateway } from '../src/start-gateway.ts'
import { post } from './post.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    smoke: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const { smoke, write } = values
const rounds = Number(values.rounds ?? (smoke ? 1 : 3))
const answers = smoke ? 200 : 5_000
const connections = smoke ? 20 : 1_000
const SIZES = smoke ? [100] : [1_000, 10_000]

interface Footprint {
  readonly idleMegabytes: number
  readonly bytesAnAnswer: number
  readonly bytesAConnection: number
}

async function measure(bytes: number): Promise<Footprint> {
  const { use, dispose } = createDisposables()
  try {
    const { url, pid } = use(
      await startGateway(fileURLToPath(new URL('footprint.config.mjs', import.meta.url)), {
        FOOTPRINT_BYTES: String(bytes),
      }),
    )
    const endpoint = `${url}/graphql`
    const agent = new Agent({ keepAlive: true, maxSockets: 16 })
    use(() => agent.destroy())
    const ask = (n: number, by: Agent): Promise<string> =>
      post(endpoint, { query: 'query ($n: Int!) { text(n: $n) }', variables: { n } }, by)
    /** Asks for so many answers, 16 at a time. */
    const askAll = async (from: number, to: number): Promise<void> => {
      let next = from
      const one = async (): Promise<void> => {
        while (next < to) {
          const n = next++
          const text = await ask(n, agent)
          if (!text.startsWith(`{"data":{"text":"${n}x`)) throw new Error(`Expected a text, got ${text}`)
        }
      }
      await Promise.all(Array.from({ length: 16 }, one))
    }
    const settled = async (): Promise<number> => {
      // What the heap has grown by for a while is given back when nothing happens, in part.
      await sleep(smoke ? 100 : 3_000)
      return usageOf(pid).rssBytes
    }
    const idle = usageOf(pid).rssBytes
    await askAll(0, answers)
    const before = await settled()
    await askAll(answers, 3 * answers)
    const after = await settled()
    const held = new Agent({ keepAlive: true, maxFreeSockets: Infinity })
    use(() => held.destroy())
    // Together, so that each has a connection of its own.
    for (let opened = 0; opened < connections; opened += 100)
      await Promise.all(Array.from({ length: Math.min(100, connections) }, (_, n) => ask(n, held)))
    const connected = await settled()
    return {
      idleMegabytes: idle / 2 ** 20,
      bytesAnAnswer: (after - before) / (2 * answers),
      bytesAConnection: (connected - after) / connections,
    }
  } finally {
    await dispose()
  }
}

const rows: string[][] = []
for (const bytes of SIZES) {
  const samples: Footprint[] = []
  for (let round = 0; round < rounds; round++) samples.push(await measure(bytes))
  const of = (pick: (sample: Footprint) => number): string => {
    const { median, min, max } = spreadOf(samples.map(pick))
    return `${median.toFixed(0)} (${min.toFixed(0)}–${max.toFixed(0)})`
  }
  rows.push([
    String(bytes),
    of(({ idleMegabytes }) => idleMegabytes),
    of(({ bytesAnAnswer }) => bytesAnAnswer),
    of(({ bytesAConnection }) => bytesAConnection),
  ])
  console.log(rows.at(-1)?.join(' | '))
}
const command = ['pnpm bench:footprint', ...process.argv.slice(2)].join(' ')
const text = `## Memory

${machineOf()}. \`${command}\`, medians of ${rounds} rounds (least–most), growth of the process (RSS): from ${answers} answers kept to ${3 * answers}, each of another
variable, then by ${connections} connections that have been asked on once and are kept.

${markdownTable(['text of an answer, bytes', 'idle, MiB', 'bytes an answer', 'bytes a connection'], rows)}
`
console.log(`\n${text}`)
if (write) await writeSection(new URL('../RESULTS.md', import.meta.url), 'footprint', text)
