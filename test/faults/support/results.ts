import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Figure, FIGURES_FILE } from './figures.ts'

const RESULTS = new URL('../RESULTS.md', import.meta.url)

const ELSEWHERE: readonly (readonly [area: string, fault: string, file: string])[] = [
  ['HTTP', 'graphql-http audits', 'test/conformance/graphql-http.test.ts'],
  ['HTTP', "graphql-cop's 14 checks", 'apps/gateway/test/graphql-cop.test.ts'],
  ['HTTP', 'foreign Origin, CORS', 'apps/gateway/test/hostile-http.test.ts'],
  ['gRPC', 'line breaks in headers', 'packages/grpc-source/test/calls.test.ts'],
  ['REST', 'body templates, `$&`', 'packages/rest-connector/test/hostile-input.test.ts'],
  ['REST', '100 % 503 for 10 s: at most 10 % more load', 'packages/rest-connector/test/retry.test.ts'],
  ['cache', 'six nested lists on a miss', 'packages/response-cache/test/cache-control.test.ts'],
  ['defer', 'gzip, HTTP/2, a proxy in front', 'packages/defer-splitter/test/transports.test.ts'],
]

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
    'Rows seen red on older code stand in [BEFORE.md](BEFORE.md).',
    '',
    '| area | fault or input | asked | seen |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    '## Rows whose tests stand elsewhere',
    '',
    '| area | fault or input | test |',
    '| --- | --- | --- |',
    ...ELSEWHERE.map(([area, fault, file]) => `| ${area} | ${fault} | [\`${file}\`](../../${file}) |`),
    '| process | soak: 5 rounds of 30 s mixed load | `pnpm test:soak`; figures in [CHAOS.md](CHAOS.md) |',
    '',
  ].join('\n')
}
