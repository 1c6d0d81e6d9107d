import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { ms, recordFigure } from './figures.ts'
import { residentMb } from './memory.ts'

export interface Neighbours {
  /** One request of somebody else. Resolves to whether it was answered rightly. */
  ask(): Promise<boolean>
  /** Whose memory is watched. */
  readonly pid: number
}

export interface Attack {
  readonly area: string
  readonly fault: string
  /** Runs until it is done or the signal is aborted. */
  run(signal: AbortSignal): Promise<unknown>
  /** Default 5,000. */
  readonly durationMs?: number
  /** Default true: nobody else's request may fail meanwhile. */
  readonly isAnswered?: boolean
}

interface Seen {
  readonly p99Ms: number
  readonly residentMb: number
  readonly asked: number
  readonly failed: number
}

const QUIET_MS = 2_000
const AFTER_MS = 10_000
/** Below it the machine's own noise is larger than what is asked. */
const LEAST_P99_MS = 10

/**
 * What an attack costs those who have nothing to do with it: their p99 stays under ten times its quiet value and the
 * process under 150 MB more; ten seconds after it ends both are back.
 */
export async function besideNeighbours(neighbours: Neighbours, attack: Attack): Promise<void> {
  const { area, fault, durationMs = 5_000, isAnswered = true } = attack
  // Compiled code, connections and caches come first.
  await watch(neighbours, sleep(1_000))
  const quiet = await watch(neighbours, sleep(QUIET_MS))
  const ended = new AbortController()
  const timer = setTimeout(() => ended.abort(), durationMs)
  const meanwhile = await watch(neighbours, attack.run(ended.signal))
  clearTimeout(timer)
  await sleep(AFTER_MS)
  const after = await watch(neighbours, sleep(QUIET_MS))
  const grown = (seen: Seen): number => seen.residentMb - quiet.residentMb
  recordFigure({
    area,
    fault,
    asked: 'others: p99 under 10 × quiet, 0 failed; RSS under quiet + 150 MB; back in 10 s',
    seen:
      `p99 ${ms(quiet.p99Ms)}, then ${ms(meanwhile.p99Ms)}, after ${ms(after.p99Ms)}; ` +
      `${meanwhile.failed} of ${meanwhile.asked} failed; RSS ${quiet.residentMb.toFixed(0)} MB, ` +
      `${signed(grown(meanwhile))} MB, after ${signed(grown(after))} MB`,
  })
  const bound = 10 * Math.max(quiet.p99Ms, LEAST_P99_MS / 2)
  expect(quiet.failed, 'failed while it was quiet').toBe(0)
  expect(meanwhile.p99Ms, 'p99 of others').toBeLessThan(bound)
  expect(grown(meanwhile), 'MB more').toBeLessThan(150)
  if (isAnswered) expect(meanwhile.failed, 'failed requests of others').toBe(0)
  expect(after.p99Ms, 'p99 afterwards').toBeLessThan(3 * Math.max(quiet.p99Ms, LEAST_P99_MS))
  expect(grown(after), 'MB more afterwards').toBeLessThan(150)
  expect(after.failed, 'failed afterwards').toBe(0)
}

const signed = (value: number): string => `${value < 0 ? '' : '+'}${value.toFixed(0)}`

/** Asks again and again, two at a time, until the promise settles. */
async function watch({ ask, pid }: Neighbours, until: Promise<unknown>): Promise<Seen> {
  const times: number[] = []
  let failed = 0
  let highest = 0
  const over = new AbortController()
  const end = until.finally(() => over.abort())
  const one = async (): Promise<void> => {
    while (!over.signal.aborted || times.length === 0) {
      const from = performance.now()
      if (!(await ask().catch(() => false))) failed++
      times.push(performance.now() - from)
      await sleep(5)
    }
  }
  const memory = async (): Promise<void> => {
    do {
      highest = Math.max(highest, residentMb(pid))
      await sleep(50)
    } while (!over.signal.aborted)
  }
  await Promise.all([one(), one(), memory(), end])
  const sorted = times.toSorted((a, b) => a - b)
  return {
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
    residentMb: highest,
    asked: times.length,
    failed,
  }
}
