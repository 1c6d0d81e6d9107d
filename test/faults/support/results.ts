import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Figure, FIGURES_FILE } from './figures.ts'

const RESULTS = new URL('../RESULTS.md', import.meta.url)

/** Collects the figures of a run; with `WRITE_RESULTS=1` they become RESULTS.md. */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-figures-'))
  const file = join(folder, 'figures.jsonl')
  writeFileSync(file, '')
  process.env[FIGURES_FILE] = file
  return () => {
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
    if (process.env['WRITE_RESULTS'] === '1') {
      writeFileSync(RESULTS, formatResults(lines.map((line) => JSON.parse(line) as Figure)))
    }
    rmSync(folder, { recursive: true })
  }
}

function formatResults(figures: readonly Figure[]): string {
  const rows = figures.map(({ area, fault, asked, seen }) => `| ${area} | ${fault} | ${asked} | ${seen} |`)
  const date = new Date().toISOString().slice(0, 10)
  return [
    '# Faults: figures asked and seen',
    '',
    `\`WRITE_RESULTS=1 pnpm test:faults\` on ${date}, Node ${process.version}, ${cpus().length} cores, all processes on one machine.`,
    'The tests themselves hold wider bounds where the machine’s own noise is larger than the figure.',
    '',
    '| area | fault or input | asked | seen |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}
