export { findLoadGenerator, type LoadGenerator, type LoadOptions, type LoadResult } from './load.ts'
export { formatScenario, outcomes, type TargetOutcome } from './report.ts'
export { writeSection } from './results-file.ts'
export { runScenario, type RunOptions } from './run-scenario.ts'
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
