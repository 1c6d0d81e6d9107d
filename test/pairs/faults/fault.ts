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
  /** The values beside which it does harm. */
  readonly beside: Row
}

/** Why an edit cannot be made in the sources as they are. Undefined: it can. */
export function whyNot({ file, from, to }: Edit): string | undefined {
  const times = readFileSync(repository(file), 'utf8').split(from).length - 1
  if (times !== 1) return `${file} has ${times} times, not once: ${from}`
  return from === to ? `${file} is not changed` : undefined
}

/** Whether the row has all of the values. */
export const isBeside = (values: Row, row: Row): boolean =>
  Object.entries(values).every(([name, value]) => row[name] === value)
