import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { startBystander, type Bystander } from './bystander.ts'
import { ms, recordFigure } from './figures.ts'
import { residentMb } from './memory.ts'
import { processorTime, shareSince } from './processor.ts'
import { boundsBroken, isJudged, quietest, type Round, type Seen } from './verdict.ts'

export interface Neighbours {
  /** One request of somebody else. Resolves to whether it was answered rightly. */
  ask(): Promise<boolean>
  /** Whose memory is watched. */
  readonly pid: number
}

export interface Attack {
  readonly area: string
  readonly fault: string
  /** Before each attempt; its time does not count. */
  readonly prepare?: () => Promise<void>
  /** Runs until it is done or the signal is aborted. */
  run(signal: AbortSignal): Promise<unknown>
  /** Default 5,000. */
  readonly durationMs?: number
}

/** What a test that calls `besideNeighbours` may take, beside three times what its attack takes. */
export const NEIGHBOURS_TIMEOUT_MS = 150_000

const ATTEMPTS = 3
const QUIET_MS = 2_000
const AFTER_MS = 10_000
/**
 * What an attack costs those who have nothing to do with it: their p99 stays under ten times its quiet value and the
 * process under 150 MB more; ten seconds after it ends both are back; nobody's request fails.
 *
 * Failed requests are counted, and none is excused; nor is memory. Times are the machine's too, so
 * - what the process waited for a processor, while other work had it, is taken off a request's time (Linux says it);
 * - a process beside it that nobody attacks is asked in the same breath: where it is later than the quiet gateway, the
 *   machine is, and its p99 is what counts;
 * - a round over a bound of time or memory is repeated, twice at most: other work passes, a fault is over each time. Each
 *   round is held against the quietest moment and the least memory of all, so that what one leaves behind excuses nothing
 *   in the next;
 * - of a round in which the process was given less than half of the processor time that it wanted, times say nothing. On a
 *   machine so busy twice the row says that, and holds answers and memory only.
 */
export async function besideNeighbours(neighbours: Neighbours, attack: Attack): Promise<void> {
  await using bystander = await startBystander()
  const watching = (until: Promise<unknown>): Promise<Seen> => watch(neighbours, bystander, until)
  // Compiled code, connections and caches come first.
  await watching(sleep(1_000))
  const rounds: Round[] = []
  for (;;) {
    const round = await attackOnce(attack, neighbours.pid, watching)
    rounds.push(round)
    for (const seen of [round.quiet, round.meanwhile, round.after]) expect(seen.failed, 'failed').toBe(0)
    const over = boundsBroken(round, rounds)
    const isBusy = !isJudged(round) && rounds.length === 1
    if ((over.length > 0 || isBusy) && rounds.length < ATTEMPTS) {
      const why = isBusy ? [...over, `given ${percent(round.share)} of a processor`] : over
      process.stdout.write(`${attack.fault}: once more, as ${why.join(', ')}\n`)
      continue
    }
    record(attack, round, rounds)
    expect(over).toEqual([])
    return
  }
}

async function attackOnce(
  { prepare, run, durationMs = 5_000 }: Attack,
  pid: number,
  watching: (until: Promise<unknown>) => Promise<Seen>,
): Promise<Round> {
  const quiet = await watching(sleep(QUIET_MS))
  await prepare?.()
  const before = processorTime(pid)
  const ended = new AbortController()
  const timer = setTimeout(() => ended.abort(), durationMs)
  const meanwhile = await watching(run(ended.signal))
  clearTimeout(timer)
  await sleep(AFTER_MS)
  const after = await watching(sleep(QUIET_MS))
  return { quiet, meanwhile, after, share: shareSince(before, pid) }
}

function record({ area, fault }: Attack, round: Round, rounds: readonly Round[]): void {
  const { meanwhile, after, share } = round
  const quiet = quietest(rounds)
  const grown = (seen: Seen): number => seen.residentMb - quiet.residentMb
  const which = rounds.length > 1 ? `; round ${rounds.length}` : ''
  const given = isJudged(round) ? '' : `; not judged by times: given ${percent(share)} of a processor`
  recordFigure({
    area,
    fault,
    asked: 'others: p99 under 10 × quiet, 0 failed; RSS under quiet + 150 MB; back in 10 s',
    seen:
      `p99 ${ms(quiet.p99Ms)}, then ${ms(meanwhile.p99Ms)}, after ${ms(after.p99Ms)} ` +
      `(the machine's ${ms(meanwhile.machineMs)}); ` +
      `${meanwhile.failed} of ${meanwhile.asked} failed; RSS ${quiet.residentMb.toFixed(0)} MB, ` +
      `${signed(grown(meanwhile))} MB, after ${signed(grown(after))} MB${which}${given}`,
  })
}

const percent = (value: number): string => `${(100 * value).toFixed(0)} %`
const signed = (value: number): string => `${value < 0 ? '' : '+'}${value.toFixed(0)}`

/** Asks again and again, two at a time, until the promise settles. */
async function watch({ ask, pid }: Neighbours, bystander: Bystander, until: Promise<unknown>): Promise<Seen> {
  const times: number[] = []
  const machine: number[] = []
  let failed = 0
  let highest = 0
  const over = new AbortController()
  const end = until.finally(() => over.abort())
  const again = async (run: () => Promise<unknown>): Promise<void> => {
    do {
      await run()
      await sleep(5)
    } while (!over.signal.aborted)
  }
  const one = async (): Promise<void> => {
    const before = processorTime(pid)
    const from = performance.now()
    if (!(await ask().catch(() => false))) failed++
    const waited = processorTime(pid).waitedMs - before.waitedMs
    times.push(Math.max(0, performance.now() - from - waited))
  }
  const beside = async (): Promise<void> => {
    const from = performance.now()
    await bystander.ask()
    machine.push(performance.now() - from)
  }
  const memory = async (): Promise<void> => {
    do {
      highest = Math.max(highest, residentMb(pid))
      await sleep(50)
    } while (!over.signal.aborted)
  }
  await Promise.all([again(one), again(one), again(beside), memory(), end])
  return {
    p99Ms: p99(times),
    machineMs: p99(machine),
    residentMb: highest,
    asked: times.length,
    failed,
  }
}

function p99(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
}
