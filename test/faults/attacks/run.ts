import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createRandom, type Random } from '@vinyasa/test-kit'
import { startDemo, type RunningDemo } from '../../e2e/support/demo.ts'
import { startBystander, type Bystander } from '../support/bystander.ts'
import { HEAP_PROBE, heapOf } from '../support/heap.ts'
import { residentMb } from '../support/memory.ts'
import type { Attack } from './attack.ts'
import { meetOthers, type Others } from './others.ts'
import { startAttack, startScript } from './start-attack.ts'
import { drawnAttacks } from './table.ts'

export interface HostileOptions {
  readonly seed: number
  readonly seconds: number
  readonly print: (line: string) => void
}

export interface HostileReport {
  readonly asked: number
  readonly p99Ms: number
  readonly quietP99Ms: number
  /** Every rule that was broken, in words. */
  readonly violations: readonly string[]
}

/** More than before an attack, what the response cache came to keep (64 MiB at most) among it. */
const MOST_MORE_MB = 150

/** More on the heap than before all attacks, once it is collected. */
const MOST_HELD_MB = 50

/**
 * Randomly chosen attacks on the production preset, up to three at once, while others ask what they know the answer of:
 * each of their answers must be the model's, the memory stays bounded, and the process lives.
 */
export async function runHostile({ seed, seconds, print }: HostileOptions): Promise<HostileReport> {
  const random = createRandom(seed, 'hostile')
  await using backends = await startScript('backends-process.ts', [], /hostile: (\S+) (\S+)/)
  const [, HOSTILE_GRPC = '', HOSTILE_REST = ''] = backends.ready ?? []
  await using demo = await startDemo({
    config: fileURLToPath(new URL('./gateway.config.ts', import.meta.url)),
    gatewayArgs: ['--preset', 'production'],
    // As the image does: glibc would keep what was let go of, and nobody could tell it from what is held.
    gatewayEnv: {
      HOSTILE_GRPC,
      HOSTILE_REST,
      MALLOC_MMAP_THRESHOLD_: '131072',
      // The ledger's budget is a quarter of it, which has to be less than `MOST_MORE_MB`.
      NODE_OPTIONS: [...HEAP_PROBE, '--max-old-space-size=512'].join(' '),
    },
  })
  const others = await meetOthers(demo.url)
  const violations: string[] = []
  // A process that has served nothing yet is no measure: ordinary traffic comes first.
  await watch(others, sleep(5_000), 40)
  const quiet = await watch(others, sleep(3_000))
  const quietHeap = await heapOf(demo.gateway)
  const quietMemory = await memoryOf(demo)
  const times: number[] = []
  const until = performance.now() + seconds * 1_000
  while (performance.now() < until && demo.gateway.isRunning()) {
    const chosen = choose(random)
    const names = chosen.map(({ name }) => name).join(' + ')
    const ended = new AbortController()
    const wrongBefore = others.wrong.length
    const before = await memoryOf(demo)
    const attackers = await Promise.all(
      chosen.map((attack) => startAttack(attack, demo.url, random.below(1_000_000))),
    )
    const attacking = Promise.all(attackers.map((attacker) => attacker.until(ended.signal)))
    const seen = await watch(others, sleep(random.between(3_000, 8_000)))
    ended.abort()
    await attacking
    times.push(...seen)
    const more = moreOf(before, await memoryOf(demo))
    print(`${names}: p99 ${p99(seen).toFixed(0)} ms of ${seen.length}, ${more.text}`)
    for (const answer of others.wrong.slice(wrongBefore)) violations.push(`${names}: others got ${answer}`)
    if (more.isTooMuch) violations.push(`${names}: ${more.text}`)
  }
  await sleep(10_000)
  await using bystander = await startBystander()
  const calm = sleep(3_000)
  // How late the machine itself is, with whatever else runs on it.
  const late = watch(bystander, calm, 1)
  const after = await watch(others, calm)
  if (demo.gateway.isRunning()) {
    print(`10 s after all of it: ${moreOf(quietMemory, await memoryOf(demo)).text} than before`)
    // What attacks in a row take may lie around until V8 collects it, which it does not while nothing is asked for.
    const heldMb = (await heapOf(demo.gateway)).heapMb - quietHeap.heapMb
    await sleep(10_000)
    const kept = moreOf(quietMemory, await memoryOf(demo))
    print(`once it is collected: ${kept.text}, of them ${heldMb.toFixed(0)} MB on the heap`)
    if (kept.isTooMuch || heldMb > MOST_HELD_MB)
      violations.push(`${kept.text} are kept, of them ${heldMb.toFixed(0)} MB on the heap`)
  }
  if (!demo.gateway.isRunning()) violations.push(`the gateway ended:\n${demo.gateway.output().slice(-2_000)}`)
  if (p99(after) > 10 * Math.max(p99(quiet), p99(await late), 10))
    violations.push(`p99 ${p99(after)} ms afterwards`)
  for (const line of demo.gateway.lines) {
    if (/"level":(50|60)|unhandled|uncaught/i.test(line)) violations.push(`logged: ${line.slice(0, 500)}`)
  }
  return { asked: times.length, p99Ms: p99(times), quietP99Ms: p99(quiet), violations }
}

interface Memory {
  readonly residentMb: number
  /** What the response cache says it keeps; 0 where the gateway does not say. */
  readonly cachedMb: number
}

async function memoryOf({ url, gateway }: RunningDemo): Promise<Memory> {
  const metrics = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(5_000) })
    .then((response) => response.text())
    .catch(() => '')
  const bytes = Number(/^vinyasa_cache_bytes (\d+)/m.exec(metrics)?.[1] ?? 0)
  const pid = gateway.isRunning() ? gateway.pid : undefined
  return { residentMb: pid === undefined ? Number.NaN : residentMb(pid), cachedMb: bytes / 1_048_576 }
}

function moreOf(before: Memory, after: Memory): { readonly text: string; readonly isTooMuch: boolean } {
  const moreMb = after.residentMb - before.residentMb
  const cachedMb = after.cachedMb - before.cachedMb
  return {
    text: `${moreMb.toFixed(0)} MB more (the cache: ${cachedMb.toFixed(0)} MB)`,
    isTooMuch: moreMb > MOST_MORE_MB,
  }
}

function choose(random: Random): readonly Attack[] {
  const chosen = new Set<Attack>()
  const count = 1 + random.below(3)
  while (chosen.size < count) chosen.add(random.pick(drawnAttacks))
  return [...chosen]
}

/** How long each answer took, in milliseconds. */
async function watch(
  { ask }: Pick<Others | Bystander, 'ask'>,
  until: Promise<unknown>,
  clients = 2,
): Promise<number[]> {
  const times: number[] = []
  const over = new AbortController()
  const end = until.finally(() => over.abort())
  const one = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const from = performance.now()
      await ask()
      times.push(performance.now() - from)
      await sleep(10)
    }
  }
  await Promise.all([...Array.from({ length: clients }, one), end])
  return times
}

function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN
}
