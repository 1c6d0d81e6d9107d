import { readFileSync } from 'node:fs'
import { repository } from '../../e2e/support/demo.ts'
import type { Row } from '../feature.ts'

/** A text of a source that is put in the place of another. */
export interface Edit {
  /** From the repository's root. */
  readonly file: string
  /** Stands in the file once. */
  readonly from: string
  readonly to: string
}

/** One fault that was there once, or one like it. */
export interface Fault {
  /** What is wrong with it, as the README's table says it. */
  readonly name: string
  readonly edits: readonly Edit[]
  /** The values beside which it does harm; of several of a feature, beside each. */
  readonly beside: Readonly<Record<string, string | readonly string[]>>
}

/** Why an edit cannot be made in the sources as they are. Undefined: it can. */
export function whyNot({ file, from, to }: Edit): string | undefined {
  const times = readFileSync(repository(file), 'utf8').split(from).length - 1
  if (times !== 1) return `${file} has ${times} times, not once: ${from}`
  return from === to ? `${file} is not changed` : undefined
}

const valuesOf = ({ beside }: Fault): readonly (readonly [name: string, values: readonly string[]])[] =>
  Object.entries(beside).map(([name, values]) => [name, [values].flat()])

/** Whether the fault does harm in the row. */
export const isBeside = (fault: Fault, row: Row): boolean =>
  valuesOf(fault).every(([name, values]) => values.includes(row[name] ?? ''))

/** What it needs, as it is in the row; without a row, the first of what it may be. */
export const neededBy = (fault: Fault, row: Row = {}): Row =>
  Object.fromEntries(valuesOf(fault).map(([name, [first = '']]) => [name, row[name] ?? first]))
