import type { Row } from './feature.ts'
import { type Counts, runRow, type RowOptions } from './run-row.ts'
import { onFeatures, shrink } from './shrink.ts'

export interface PairsOptions extends Pick<RowOptions, 'features' | 'onConfig' | 'fault'> {
  readonly rows: readonly Row[]
  readonly seed: number
  readonly seconds: number
  /** Whether features are dropped from what breaks a rule. Default true. */
  readonly shrinks?: boolean
  /** Whether nothing is run after the first violation. Default false. */
  readonly untilBroken?: boolean
  /** The only ones that are run, by their numbers. Default: all. */
  readonly only?: readonly number[]
  /** What is likely to be left of a row that breaks a rule, which is tried before features are dropped one by one. */
  readonly likely?: (row: Row) => Row
  readonly print: (line: string) => void
}

/** One rule that a row breaks, and the features without which it does not. */
export interface Found {
  readonly row: number
  readonly rule: string
  readonly what: string
  /** Each as `name=value`. */
  readonly features: readonly string[]
}

export interface PairsResult {
  readonly done: number
  readonly counts: Counts
  readonly found: readonly Found[]
}

/** Runs rows one after the other, and says of what they break which features it takes. */
export async function runPairs(options: PairsOptions): Promise<PairsResult> {
  const {
    features,
    rows,
    seed,
    seconds,
    only,
    likely,
    fault,
    print,
    onConfig,
    shrinks = true,
    untilBroken = false,
  } = options
  const until = performance.now() + seconds * 1_000
  const found: Found[] = []
  let done = 0
  let counts: Counts = { requests: 0, mutations: 0, spans: 0, scrapes: 0 }
  for (const [index, row] of rows.entries()) {
    if (only && !only.includes(index)) continue
    if (performance.now() > until) break
    const drawnBy = seed * 1_000 + index
    const result = await runRow({ features, row, seed: drawnBy, fault, ...(onConfig && { onConfig }) })
    counts = plus(counts, result.counts)
    done++
    const rules = new Map(result.violations.map(({ rule, what }) => [rule, what]))
    for (const [rule, what] of rules) {
      print(`seed ${seed}, row ${index}: ${rule}: ${what}`)
      const left =
        !shrinks || performance.now() > until
          ? row
          : await shrink(features, row, breaks(rule, { features, seed: drawnBy, fault }), likely?.(row))
      const names = onFeatures(features, left).map((name) => `${name}=${left[name]}`)
      print(`  ${names.length} features are left: ${names.join(', ')}`)
      found.push({ row: index, rule, what, features: names })
      if (untilBroken) return { done, counts, found }
    }
  }
  return { done, counts, found }
}

const plus = (one: Counts, other: Counts): Counts => ({
  requests: one.requests + other.requests,
  mutations: one.mutations + other.mutations,
  spans: one.spans + other.spans,
  scrapes: one.scrapes + other.scrapes,
})

/** Whether a row breaks the rule. What hangs on times may need to be tried twice. */
function breaks(
  rule: string,
  options: Pick<RowOptions, 'features' | 'seed' | 'fault'>,
): (row: Row) => Promise<boolean> {
  return async (row) => {
    for (let tries = 0; tries < 2; tries++) {
      const { violations } = await runRow({ ...options, row, checks: rule === 'check' })
      if (violations.some((violation) => violation.rule === rule)) return true
    }
    return false
  }
}
