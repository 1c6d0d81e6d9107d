import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createRandom, type Random } from '@vinyasa/test-kit'
import { startDemo, type RunningDemo } from '../../e2e/support/demo.ts'
import { startBystander, type Bystander } from '../support/bystander.ts'
import { HEAP_PROBE, heapOf, type HeapSize } from '../support/heap.ts'
import { residentMb } from '../support/memory.ts'
import type { Attack } from './attack.ts'
import { meetOthers, type Others } from './others.ts'
import { startAttack, startScript } from './start-attack.ts'
import { drawnAttacks, holders } from './table.ts'

export interface HostileOptions {
  readonly seed: number
  readonly seconds: number
  /** Only holders of memory, up to six kinds at once, with what they may take at any moment. */
  readonly holders?: boolean
  /** `--max-old-space-size` of the gateway. Default 512. */
  readonly heapMb?: number
  readonly print: (line: string) => void
}

export interface HostileReport {
  readonly asked: number
  readonly p99Ms: number
  readonly quietP99Ms: number
  /** Most resident memory more than when all was quiet, and what of it the ledger counted at most. */
  readonly mostMb: number
  readonly mostHeldMb: number
  /** Every rule that was broken, in words. */
  readonly violations: readonly string[]
}

/** More than before an attack, what the response cache came to keep (64 MiB at most) among it. */
const MOST_MORE_MB = 150

/**
 * Of mixes with holders: objects and buffers more than when all was quiet, beside the budget of the ledger (a quarter of the heap's limit)
 * and the response cache (64 MiB).
 */
const MARGIN_MB = 64
/** The same for resident memory, with garbage that V8 has not collected and buffers that glibc keeps. */
const RESIDENT_MARGIN_MB = 250
/** What the response cache keeps at most. */
const CACHE_MB = 64
/** V8's young generation, which its heap limit includes. */
const YOUNG_MB = 48

/** What the ledger still counts 10 s after all attacks. */
const MOST_COUNTED_MB = 0.1

/** More of objects and buffers than before all attacks, once they are collected. */
const MOST_HELD_MB = 50

/**
 * Randomly chosen attacks on the production preset, up to three at once, while others ask what they know the answer of:
 * each of their answers must be the model's, the memory stays bounded, and the process lives.
 */
export async function runHostile(options: HostileOptions): Promise<HostileReport> {
  const { seed, seconds, print, heapMb = 512 } = options
  const budgetMb = (heapMb + YOUNG_MB) / 4
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
      ...(options.holders && { HOSTILE_UPLOADS: '1' }),
      NODE_OPTIONS: [...HEAP_PROBE, `--max-old-space-size=${heapMb}`].join(' '),
    },
  })
  const others = await meetOthers(demo.url)
  const violations: string[] = []
  // A process that has served nothing yet is no measure: ordinary traffic comes first.
  await watch(others, sleep(5_000), 40)
  const quiet = await watch(others, sleep(3_000))
  const quietMb = sizeMb(await heapOf(demo.gateway))
  const quietMemory = await memoryOf(demo)
  const times: number[] = []
  const report = { mostMb: 0, mostHeldMb: 0 }
  let hasHeld = false
  const watched = new AbortController()
  const mostMemory = watchMemory(demo, watched.signal)
  const until = performance.now() + seconds * 1_000
  while (performance.now() < until && demo.gateway.isRunning()) {
    const chosen = options.holders ? choose(random, holders, 2, 6) : choose(random, drawnAttacks, 1, 3)
    const names = chosen.map(({ name }) => name).join(' + ')
    const ended = new AbortController()
    const wrongBefore = others.wrong.length
    const before = await memoryOf(demo)
    // Holders need little of a processor: one process for all of them.
    const groups = options.holders ? [chosen] : chosen.map((attack) => [attack])
    const attackers = await Promise.all(
      groups.map((attacks) => startAttack(attacks, demo.url, random.below(1_000_000))),
    )
    const attacking = Promise.all(attackers.map((attacker) => attacker.until(ended.signal)))
    const seen = await watch(others, sleep(random.between(3_000, 8_000)))
    const holds = chosen.some((attack) => holders.includes(attack))
    const heldMb = holds && demo.gateway.isRunning() ? sizeMb(await heapOf(demo.gateway)) - quietMb : 0
    ended.abort()
    await attacking
    times.push(...seen)
    const more = moreOf(before, await memoryOf(demo))
    const most = mostMemory()
    const mostMb = most.residentMb - quietMemory.residentMb
    const atMost = `at most ${mostMb.toFixed(0)} MB more than in quiet, ${most.heldMb.toFixed(0)} MB of them counted, at last ${heldMb.toFixed(0)} MB of objects and buffers`
    print(`${names}: p99 ${p99(seen).toFixed(0)} ms of ${seen.length}, ${more.text}, ${atMost}`)
    report.mostMb = Math.max(report.mostMb, mostMb)
    report.mostHeldMb = Math.max(report.mostHeldMb, most.heldMb)
    for (const answer of others.wrong.slice(wrongBefore)) violations.push(`${names}: others got ${answer}`)
    hasHeld ||= holds
    const isTooMuch = mostMb > budgetMb + RESIDENT_MARGIN_MB || heldMb > budgetMb + CACHE_MB + MARGIN_MB
    if (holds ? isTooMuch : more.isTooMuch) violations.push(`${names}: ${more.text}, ${atMost}`)
  }
  watched.abort()
  await sleep(10_000)
  await using bystander = await startBystander()
  const calm = sleep(3_000)
  // How late the machine itself is, with whatever else runs on it.
  const late = watch(bystander, calm, 1)
  const after = await watch(others, calm)
  if (demo.gateway.isRunning()) {
    const memory = await memoryOf(demo)
    print(`10 s after all of it: ${moreOf(quietMemory, memory).text} than before`)
    if (memory.heldMb > MOST_COUNTED_MB) violations.push(`${memory.heldMb} MB are still in the ledger`)
    // What attacks in a row take may lie around until V8 collects it, which it does not while nothing is asked for.
    const heldMb = sizeMb(await heapOf(demo.gateway)) - quietMb
    await sleep(10_000)
    const kept = moreOf(quietMemory, await memoryOf(demo))
    print(`once it is collected: ${kept.text}, of them ${heldMb.toFixed(0)} MB of objects and buffers`)
    if ((kept.isTooMuch && !hasHeld) || heldMb > MOST_HELD_MB)
      violations.push(`${kept.text} are kept, of them ${heldMb.toFixed(0)} MB of objects and buffers`)
  }
  if (!demo.gateway.isRunning()) violations.push(`the gateway ended:\n${demo.gateway.output().slice(-2_000)}`)
  if (p99(after) > 10 * Math.max(p99(quiet), p99(await late), 10))
    violations.push(`p99 ${p99(after)} ms afterwards`)
  for (const line of demo.gateway.lines) {
    if (/"level":(50|60)|unhandled|uncaught/i.test(line)) violations.push(`logged: ${line.slice(0, 500)}`)
  }
  return { asked: times.length, p99Ms: p99(times), quietP99Ms: p99(quiet), ...report, violations }
}

/** Objects and buffers. */
function sizeMb({ heapMb, externalMb }: HeapSize): number {
  return heapMb + externalMb
}

interface Memory {
  readonly residentMb: number
  /** What the response cache says it keeps; 0 where the gateway does not say. */
  readonly cachedMb: number
  /** What the ledger counts. */
  readonly heldMb: number
}

async function memoryOf({ url, gateway }: RunningDemo): Promise<Memory> {
  const metrics = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(5_000) })
    .then((response) => response.text())
    .catch(() => '')
  const gaugeMb = (name: string): number =>
    Number(new RegExp(`^${name} (\\d+)`, 'm').exec(metrics)?.[1] ?? 0) / 1_048_576
  return {
    residentMb: gateway.isRunning() ? residentMb(gateway.pid) : Number.NaN,
    cachedMb: gaugeMb('vinyasa_cache_bytes'),
    heldMb: gaugeMb('vinyasa_held_bytes'),
  }
}

type MostMemory = Pick<Memory, 'residentMb' | 'heldMb'>

/** Looks at the memory until the signal ends it; the function returns the most since it was last called. */
function watchMemory(demo: RunningDemo, signal: AbortSignal): () => MostMemory {
  let most: MostMemory = { residentMb: 0, heldMb: 0 }
  const again = async (ms: number, look: () => Promise<Partial<MostMemory>>): Promise<void> => {
    for (; !signal.aborted && demo.gateway.isRunning(); await sleep(ms)) {
      const { residentMb = 0, heldMb = 0 } = await look()
      most = {
        residentMb: Math.max(most.residentMb, residentMb),
        heldMb: Math.max(most.heldMb, heldMb),
      }
    }
  }
  void again(50, async () => ({ residentMb: residentMb(demo.gateway.pid) }))
  void again(200, () => memoryOf(demo))
  return () => {
    const seen = most
    most = { residentMb: 0, heldMb: 0 }
    return seen
  }
}

function moreOf(before: Memory, after: Memory): { readonly text: string; readonly isTooMuch: boolean } {
  const moreMb = after.residentMb - before.residentMb
  const cachedMb = after.cachedMb - before.cachedMb
  return {
    text: `${moreMb.toFixed(0)} MB more (the cache: ${cachedMb.toFixed(0)} MB)`,
    isTooMuch: moreMb > MOST_MORE_MB,
  }
}

function choose(random: Random, attacks: readonly Attack[], least: number, most: number): readonly Attack[] {
  const chosen = new Set<Attack>()
  const count = least + random.below(most - least + 1)
  while (chosen.size < count) chosen.add(random.pick(attacks))
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
