import type { Row } from './feature.ts'

/** What rows break today and is not mended yet. */
export interface KnownFault {
  readonly rule: string
  /** Values that a row has where it is broken. */
  readonly beside: Row
  readonly why: string
}

export const KNOWN: readonly KnownFault[] = [
  {
    rule: 'metrics: ',
    beside: { workers: '2' },
    why: 'a scrape is answered by one worker, with its own numbers alone',
  },
]

export function isKnown(rule: string, row: Row): boolean {
  return KNOWN.some(
    (fault) =>
      rule.startsWith(fault.rule) &&
      Object.entries(fault.beside).every(([name, value]) => row[name] === value),
  )
}
