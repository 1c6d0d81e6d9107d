import type { LoadGenerator } from './load.ts'
import { type RunningProgram, startProgram } from './start-program.ts'
import type { BenchRequest, Sample, Scenario, ScenarioResult } from './types.ts'

export interface RunOptions {
  readonly rounds: number
  readonly secondsPerRound: number
  readonly warmUpSeconds: number
  readonly connections: number
  readonly load: LoadGenerator
  readonly log: (line: string) => void
}

/** Starts everything, warms every contender up, then loads them in turn, round after round. */
export async function runScenario(scenario: Scenario, options: RunOptions): Promise<ScenarioResult> {
  const { rounds, secondsPerRound, warmUpSeconds, connections, load, log } = options
  const backends: RunningProgram[] = []
  const contenders: { readonly program: RunningProgram; readonly samples: Sample[] }[] = []
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
    for (const { program } of contenders) {
      await checkAnswer(program, scenario)
      if (warmUpSeconds === 0) continue
      await load.send(program.url, program.request ?? scenario.request, {
        seconds: warmUpSeconds,
        connections,
      })
    }
    for (let round = 1; round <= rounds; round++) {
      // Every second round goes the other way, so that a slow drift of the machine falls on all alike.
      const order = round % 2 === 1 ? contenders : contenders.toReversed()
      for (const { program, samples } of order) {
        await checkAnswer(program, scenario)
        const sample = await measure(program, program.request ?? scenario.request)
        if (sample.errors > 0) throw new Error(`${program.name}: ${sample.errors} answers were not 2xx`)
        samples.push(sample)
        await checkAnswer(program, scenario)
      }
      log(`${scenario.name}: round ${round} of ${rounds}`)
    }
    return {
      scenario,
      contenders: contenders.map(({ program, samples }) => ({
        name: program.name,
        versions: program.versions,
        samples,
      })),
    }
  } finally {
    await Promise.all([...contenders.map(({ program }) => program), ...backends].map((p) => p.stop()))
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
  const { check } = scenario
  const request = program.request ?? scenario.request
  const response = await fetch(`${program.url}${request.path}`, {
    method: 'POST',
    body: request.body,
    headers: { 'content-type': 'application/json', ...request.headers },
  })
  const text = await response.text()
  try {
    check(JSON.parse(text))
  } catch (error) {
    throw new Error(`${program.name} answered wrongly (${response.status}): ${text.slice(0, 500)}`, {
      cause: error,
    })
  }
}
