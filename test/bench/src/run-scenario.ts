import type { LoadGenerator } from './load.ts'
import { checkAnswer, startScenario } from './running-scenario.ts'
import type { RunningProgram } from './start-program.ts'
import type { BenchRequest, Sample, Scenario, ScenarioResult } from './types.ts'

export interface RunOptions {
  readonly rounds: number
  readonly secondsPerRound: number
  readonly warmUpSeconds: number
  readonly connections: number
  /**
   * All rounds of a contender one after the other: what an optimising machine settles at. Otherwise contenders take
   * turns, and each load is a burst after idle time.
   */
  readonly isUnbroken?: boolean
  readonly load: LoadGenerator
  readonly log: (line: string) => void
}

const WARM_REQUESTS = 4_000
const MOST_WARM_UPS = 3

/** Loads a program until an optimising compiler has seen enough of it. */
export async function warmProgram(
  program: RunningProgram,
  scenario: Scenario,
  { warmUpSeconds, connections, load }: Pick<RunOptions, 'warmUpSeconds' | 'connections' | 'load'>,
): Promise<void> {
  if (warmUpSeconds === 0) return
  const request = program.request ?? scenario.request
  // On a machine that does other things too, time alone says little of what it has seen.
  let requests = 0
  for (let time = 0; time < MOST_WARM_UPS && requests < WARM_REQUESTS; time++)
    requests += (await load.send(program.url, request, { seconds: warmUpSeconds, connections })).requests
}

interface Contender {
  readonly program: RunningProgram
  readonly samples: Sample[]
}

/** Starts everything, warms every contender up, then loads them in turn, round after round, or one after the other. */
export async function runScenario(scenario: Scenario, options: RunOptions): Promise<ScenarioResult> {
  const { rounds, secondsPerRound, connections, load, log } = options
  const running = await startScenario(scenario)
  const contenders: Contender[] = running.contenders.map((program) => ({ program, samples: [] }))
  try {
    if (options.isUnbroken) {
      for (const contender of contenders) {
        await warmUp(contender.program)
        for (let round = 1; round <= rounds; round++) await sampleOf(contender)
        log(`${scenario.name}: ${contender.program.name}`)
      }
      return resultOf(contenders)
    }
    for (const { program } of contenders) await warmUp(program)
    for (let round = 1; round <= rounds; round++) {
      // Every second round goes the other way, so that a slow drift of the machine falls on all alike.
      const order = round % 2 === 1 ? contenders : contenders.toReversed()
      for (const contender of order) await sampleOf(contender)
      log(`${scenario.name}: round ${round} of ${rounds}`)
    }
    return resultOf(contenders)
  } finally {
    await running.stop()
  }

  async function warmUp(program: RunningProgram): Promise<void> {
    await checkAnswer(program, scenario)
    await warmProgram(program, scenario, options)
  }

  async function sampleOf({ program, samples }: Contender): Promise<void> {
    await checkAnswer(program, scenario)
    const request = program.request ?? scenario.request
    const sample = await measure(program, request)
    if (sample.errors > 0) throw new Error(`${program.name}: ${sample.errors} connections failed`)
    if (sample.refusals > 0 && !scenario.isRefused && !request.isNotModified)
      throw new Error(`${program.name}: ${sample.refusals} answers were not 2xx`)
    samples.push(sample)
    await checkAnswer(program, scenario)
  }

  function resultOf(all: readonly Contender[]): ScenarioResult {
    const results = all.map(({ program: { name, versions }, samples }) => ({ name, versions, samples }))
    return { scenario, contenders: results }
  }

  async function measure(program: RunningProgram, request: BenchRequest): Promise<Sample> {
    const before = await program.usage()
    const result = await load.send(program.url, request, { seconds: secondsPerRound, connections })
    const after = await program.usage()
    return {
      ...result,
      cpuMicrosPerRequest: (after.cpuMicros - before.cpuMicros) / result.requests,
      rssBytes: after.rssBytes,
    }
  }
}
