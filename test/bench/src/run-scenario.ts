import { bodyOf, type LoadGenerator } from './load.ts'
import { type RunningProgram, startProgram } from './start-program.ts'
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

interface Contender {
  readonly program: RunningProgram
  readonly samples: Sample[]
}

/** Starts everything, warms every contender up, then loads them in turn, round after round, or one after the other. */
export async function runScenario(scenario: Scenario, options: RunOptions): Promise<ScenarioResult> {
  const { rounds, secondsPerRound, warmUpSeconds, connections, load, log } = options
  const backends: RunningProgram[] = []
  const contenders: Contender[] = []
  try {
    const env: Record<string, string> = {}
    for (const backend of scenario.backends ?? []) {
      const program = await startProgram(backend)
      backends.push(program)
      env[`BENCH_${backend.name.toUpperCase().replaceAll('-', '_')}_URL`] = program.url
    }
    // All that did start is stopped below, also when one of them does not.
    const starts = scenario.contenders.map((contender) => startProgram(contender, env))
    for (const started of await Promise.allSettled(starts))
      if (started.status === 'fulfilled') contenders.push({ program: started.value, samples: [] })
    await Promise.all(starts)
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
    await Promise.all([...contenders.map(({ program }) => program), ...backends].map((p) => p.stop()))
  }

  async function warmUp(program: RunningProgram): Promise<void> {
    await checkAnswer(program, scenario)
    if (warmUpSeconds === 0) return
    const request = program.request ?? scenario.request
    // On a machine that does other things too, time alone says little of what an optimising compiler has seen.
    let requests = 0
    for (let time = 0; time < MOST_WARM_UPS && requests < WARM_REQUESTS; time++)
      requests += (await load.send(program.url, request, { seconds: warmUpSeconds, connections })).requests
  }

  async function sampleOf({ program, samples }: Contender): Promise<void> {
    await checkAnswer(program, scenario)
    const sample = await measure(program, program.request ?? scenario.request)
    if (sample.errors > 0) throw new Error(`${program.name}: ${sample.errors} answers were not 2xx`)
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

async function checkAnswer(program: RunningProgram, scenario: Scenario): Promise<void> {
  for (const number of [1, 7]) await checkNumber(program, scenario, number)
}

async function checkNumber(program: RunningProgram, scenario: Scenario, number: number): Promise<void> {
  const { check } = scenario
  const request = program.request ?? scenario.request
  const response = await fetch(`${program.url}${request.path}`, {
    method: 'POST',
    body: bodyOf(request, number),
    headers: { 'content-type': 'application/json', ...request.headers },
  })
  const text = await response.text()
  try {
    check(JSON.parse(text), number)
  } catch (error) {
    throw new Error(`${program.name} answered wrongly (${response.status}): ${text.slice(0, 500)}`, {
      cause: error,
    })
  }
}
