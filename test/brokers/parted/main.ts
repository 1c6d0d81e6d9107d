// How old a gateway's answers may be while gateways are parted from their broker: `pnpm test:parted --rounds 500`. Prints the
// table of docs/recipes/redis.md.
import { parseArgs } from 'node:util'
import { BUSES, startFleet, type BusKind } from './fleet.ts'
import { LONG, runEpisode, type Seen } from './run.ts'
import { STATES, type State } from './states.ts'

const ROUNDS_AT_ONCE = 100

const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: { rounds: { type: 'string', default: '500' }, state: { type: 'string' } },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const rounds = Number(values.rounds)
const states = STATES.filter(({ name }) => values.state === undefined || name.includes(values.state))

async function run(kind: BusKind, state: State): Promise<Seen> {
  await using fleet = await startFleet(kind)
  const seen: Seen[] = []
  for (let left = rounds; left > 0; left -= ROUNDS_AT_ONCE)
    seen.push(await runEpisode(fleet, state, Math.min(left, ROUNDS_AT_ONCE), LONG))
  return seen.reduce((one, other) => ({
    rounds: one.rounds + other.rounds,
    reads: one.reads + other.reads,
    hits: one.hits + other.hits,
    old: one.old + other.old,
    unawaited: one.unawaited + other.unawaited,
    worstMs: Math.max(one.worstMs, other.worstMs),
    worstBackMs: Math.max(one.worstBackMs, other.worstBackMs),
  }))
}

for (const state of states) {
  await Promise.all(
    BUSES.map(async (kind) => {
      const { reads, hits, old, unawaited, worstMs, worstBackMs } = await run(kind, state)
      process.stdout.write(
        `${kind}, ${state.name}: ${rounds} rounds, ${reads} reads, ${hits} hits, ` +
          `${old} old, ${unawaited} of them after an answer that waited for nobody, as was logged; ` +
          `worst ${Math.round(worstMs)} ms, when it is back ${Math.round(worstBackMs)} ms\n`,
      )
    }),
  )
}
