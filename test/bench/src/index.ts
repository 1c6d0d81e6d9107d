export { findLoadGenerator, type LoadGenerator, type LoadOptions, type LoadResult } from './load.ts'
export { type OpenLoopOptions, type OpenLoopResult, sendOpenLoop } from './open-loop.ts'
export { formatScenario, formatTargets, markdownTable, outcomes, type TargetOutcome } from './report.ts'
export { writeSection } from './results-file.ts'
export { runScenario, type RunOptions, warmProgram } from './run-scenario.ts'
export { checkAnswer, type RunningScenario, startScenario } from './running-scenario.ts'
export { type RunningProgram, startProgram } from './start-program.ts'
export { median, type Spread, spreadOf } from './statistics.ts'
export type {
  BenchRequest,
  ContenderResult,
  Program,
  Sample,
  Scenario,
  ScenarioResult,
  Target,
} from './types.ts'
