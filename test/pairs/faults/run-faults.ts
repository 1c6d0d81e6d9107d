import { offRow } from '../draw-row.ts'
import type { Row } from '../feature.ts'
import { type Found, runPairs, type PairsOptions } from '../run-pairs.ts'
import { runRow } from '../run-row.ts'
import { isBeside, neededBy, type Fault } from './fault.ts'
import { FAULTS } from './list.ts'

/** Rows that are run with a fault at most. */
const ROWS = 6

export interface FaultsOptions extends Pick<
  PairsOptions,
  'features' | 'rows' | 'seed' | 'print' | 'shrinks'
> {
  /** Of the names of those that are put back; empty: all. */
  readonly part: string
  /** Whether each is put back beside nothing but what it needs, and not in the seed's rows: a run each. */
  readonly alone: boolean
}

/** Puts faults back, one at a time, and prints a line of a table for each. Returns how many are not found. */
export async function runFaults({ part, print, rows, alone, ...options }: FaultsOptions): Promise<number> {
  print('| fault | seed, row | features left | after, s | as |')
  print('| --- | --- | --- | ---: | --- |')
  let missed = 0
  for (const fault of FAULTS.filter(({ name }) => name.includes(part))) {
    const began = performance.now()
    const { found } = await runPairs({
      ...options,
      rows: alone ? [{ ...offRow(options.features), ...neededBy(fault) }] : rows,
      print: () => {},
      seconds: Infinity,
      fault,
      ...(!alone && { only: rowsWith(fault, rows), likely: (row: Row) => neededBy(fault, row) }),
      untilBroken: true,
    })
    const isFaults = await Promise.all(found.map((one) => isOfFault(one, options)))
    const seconds = Math.round((performance.now() - began) / 1_000)
    const first = found.find((_, index) => isFaults[index])
    if (!first) missed++
    print(
      first
        ? `| ${fault.name} | ${alone ? 'alone' : `${options.seed}, ${first.row}`} | ${first.features.join(', ')} | ${seconds} | ${first.rule} |`
        : `| ${fault.name} | – | – | ${seconds} | not found |`,
    )
    if (first) print(`<!-- ${first.what} -->`)
  }
  return missed
}

/** Whether what is left of the row keeps the rule without the fault. */
async function isOfFault(
  { row, rule, features: left }: Found,
  { features, seed }: Pick<FaultsOptions, 'features' | 'seed'>,
): Promise<boolean> {
  const values = Object.fromEntries(left.map((text) => text.split('=') as [string, string]))
  const whole = { ...offRow(features), ...values }
  const { violations } = await runRow({ features, row: whole, seed: seed * 1_000 + row, checks: false })
  return violations.every((violation) => violation.rule !== rule)
}

/** The first rows in which it can do harm. */
function rowsWith(fault: Fault, rows: readonly Row[]): readonly number[] {
  return rows.flatMap((row, index) => (isBeside(fault, row) ? [index] : [])).slice(0, ROWS)
}
