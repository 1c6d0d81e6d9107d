/** A program of its own: a server under test, or a backend behind one. */
export interface Program {
  readonly name: string
  /** A module that calls `serveProgram`. */
  readonly file: URL
  readonly env?: Readonly<Record<string, string>>
  /** Its standard output goes to a file, which is gone when it ends; without it, to the benchmark. */
  readonly writesToFile?: boolean
  /** What this contender is sent in place of the scenario's request: its names may be others, its answer may not. */
  readonly request?: BenchRequest
}

export interface BenchRequest {
  /** Default: POST. A GET has everything in its path. */
  readonly method?: 'GET' | undefined
  readonly path: string
  /** The text `{n}` in it, and in the path of a GET, stands for a number: 1, 2, 3 … from request to request. */
  readonly body: string
  /** Where the numbers begin anew. Default: they do not. */
  readonly numbers?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the expected response is 304, which has no body. */
  readonly isNotModified?: boolean
}

/** One row of a table of targets: `of` may cost at most `atMost` times what `against` costs. */
export interface Target {
  readonly of: string
  readonly against: string
  readonly atMost: number
}

export interface Scenario {
  readonly name: string
  /** What is asked, as a person would say it. */
  readonly title: string
  readonly request: BenchRequest
  /**
   * Throws when an answer is not the right one for the number in its request. Every contender is checked before and
   * after every round.
   */
  check(answer: unknown, number: number): void
  /** Whether the right answer may have a status that is none of success. */
  readonly isRefused?: boolean
  /** Started before the contenders; each one's URL reaches them as `BENCH_<NAME>_URL`. */
  readonly backends?: readonly Program[]
  readonly contenders: readonly Program[]
  readonly targets: readonly Target[]
}

/** What one round of load on one contender showed. */
export interface Sample {
  readonly requests: number
  readonly errors: number
  readonly refusals: number
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly cpuMicrosPerRequest: number
  readonly rssBytes: number
}

export interface ContenderResult {
  readonly name: string
  readonly versions: Readonly<Record<string, string>>
  readonly samples: readonly Sample[]
}

export interface ScenarioResult {
  readonly scenario: Scenario
  readonly contenders: readonly ContenderResult[]
}
