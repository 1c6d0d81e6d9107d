import { readFileSync, writeFileSync } from 'node:fs'
import type { ModelReport } from './run.ts'

const RESULTS = new URL('./RESULTS.md', import.meta.url)

/** Puts a run into the first table of RESULTS.md, in place of an earlier one of the same seed. */
export function writeResults(report: ModelReport): void {
  const lines = readFileSync(RESULTS, 'utf8').split('\n')
  const first = lines.findIndex((line) => line.startsWith('| ---')) + 1
  const end = lines.findIndex((line, index) => index >= first && !line.startsWith('|'))
  const others = lines.slice(first, end).filter((line) => seedOf(line) !== report.seed)
  const rows = [...others, rowOf(report)].toSorted((a, b) => seedOf(a) - seedOf(b))
  writeFileSync(RESULTS, [...lines.slice(0, first), ...rows, ...lines.slice(end)].join('\n'))
}

const seedOf = (row: string): number => Number(row.split('|')[1])

function rowOf({ seed, seconds, worlds, tally, violations }: ModelReport): string {
  const sum = (prefix: string): number => tally.under(prefix).reduce((all, [, count]) => all + count, 0)
  const unknown = ['deadline', 'client leaves', 'ran out of time'].map((name) => tally.of(`mutation ${name}`))
  const cells = [
    seed,
    Math.round(seconds),
    violations.length,
    worlds,
    tally.of('reads compared'),
    ['HIT', 'STALE', 'COALESCED'].map((name) => tally.of(`cache ${name}`).toLocaleString('en')).join(', '),
    sum('mutation ') + tally.of('step race'),
    unknown.reduce((all, count) => all + count, 0),
    tally.of('live updates'),
    tally.of('step attack'),
  ]
  return `| ${cells.map((cell) => (typeof cell === 'number' && cell !== seed ? cell.toLocaleString('en') : cell)).join(' | ')} |`
}
