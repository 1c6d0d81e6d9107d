import type { Feature, Row } from './feature.ts'
import { runRow, type RowOptions } from './run-row.ts'
import { onFeatures, shrink } from './shrink.ts'

export interface PairsOptions extends Pick<RowOptions, 'features' | 'onConfig'> {
  readonly rows: readonly Row[]
  readonly seed: number
  readonly seconds: number
  /** Whether features are dropped from what breaks a rule. Default true. */
  readonly shrinks?: boolean
  /** Whether nothing is run after the first violation. Default false. */
  readonly untilBroken?: boolean
  /** The only one that is run. Default: all. */
  readonly row?: number
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
  readonly requests: number
  readonly found: readonly Found[]
}

/** Runs rows one after the other, and says of what they break which features it takes. */
export async function runPairs(options: PairsOptions): Promise<PairsResult> {
  const {
    features,
    rows,
    seed,
    seconds,
    row: single,
    print,
    onConfig,
    shrinks = true,
    untilBroken = false,
  } = options
  const until = performance.now() + seconds * 1_000
  const found: Found[] = []
  let [requests, done] = [0, 0]
  for (const [index, row] of rows.entries()) {
    if (single !== undefined && index !== single) continue
    if (performance.now() > until) break
    const drawnBy = seed * 1_000 + index
    const result = await runRow({ features, row, seed: drawnBy, ...(onConfig && { onConfig }) })
    requests += result.requests
    done++
    const rules = new Map(result.violations.map(({ rule, what }) => [rule, what]))
    for (const [rule, what] of rules) {
      print(`seed ${seed}, row ${index}: ${rule}: ${what}`)
      const left =
        !shrinks || performance.now() > until ? row : await shrinkRule(features, row, drawnBy, rule)
      const names = onFeatures(features, left).map((name) => `${name}=${left[name]}`)
      print(`  ${names.length} features are left: ${names.join(', ')}`)
      found.push({ row: index, rule, what, features: names })
      if (untilBroken) return { done, requests, found }
    }
  }
  return { done, requests, found }
}

/** What hangs on times may need to be tried twice. */
function shrinkRule(features: readonly Feature[], row: Row, seed: number, rule: string): Promise<Row> {
  return shrink(features, row, async (smaller) => {
    for (let tries = 0; tries < 2; tries++) {
      const { violations } = await runRow({ features, row: smaller, seed, checks: rule === 'check' })
      if (violations.some((violation) => violation.rule === rule)) return true
    }
    return false
  })
}
