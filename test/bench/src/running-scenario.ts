import { deepStrictEqual } from 'node:assert'
import { bodyOf, headersOf, pathOf } from './load.ts'
import { type RunningProgram, startProgram } from './start-program.ts'
import type { Scenario } from './types.ts'

export interface RunningScenario {
  /** In the order of the scenario. */
  readonly contenders: readonly RunningProgram[]
  stop(): Promise<void>
}

/** Starts the backends of a scenario, then its contenders. Where one does not start, none is left running. */
export async function startScenario(scenario: Scenario): Promise<RunningScenario> {
  const running: RunningProgram[] = []
  const stop = async (): Promise<void> => void (await Promise.all(running.map((program) => program.stop())))
  try {
    const env: Record<string, string> = {}
    for (const backend of scenario.backends ?? []) {
      const program = await startProgram(backend)
      running.push(program)
      env[`BENCH_${backend.name.toUpperCase().replaceAll('-', '_')}_URL`] = program.url
    }
    const starts = scenario.contenders.map((contender) => startProgram(contender, env))
    for (const started of await Promise.allSettled(starts))
      if (started.status === 'fulfilled') running.push(started.value)
    return { contenders: await Promise.all(starts), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Throws where a program does not answer the scenario's request rightly. */
export async function checkAnswer(program: RunningProgram, scenario: Scenario): Promise<void> {
  for (const number of [1, 7]) await checkNumber(program, scenario, number)
}

async function checkNumber(program: RunningProgram, scenario: Scenario, number: number): Promise<void> {
  const { check } = scenario
  const request = program.request ?? scenario.request
  const response = await fetch(`${program.url}${pathOf(request, number)}`, {
    method: request.method ?? 'POST',
    ...(request.method !== 'GET' && { body: bodyOf(request, number) }),
    headers: headersOf(request),
  })
  const text = await response.text()
  try {
    if (request.isNotModified) deepStrictEqual([response.status, text], [304, ''])
    else check(JSON.parse(text), number)
  } catch (error) {
    throw new Error(`${program.name} answered wrongly (${response.status}): ${text.slice(0, 500)}`, {
      cause: error,
    })
  }
}
