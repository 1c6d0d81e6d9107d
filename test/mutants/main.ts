// Changes lines of the sources, drawn by a seed, one at a time, and runs the tests of the package: what stays green is not
// tested. `pnpm test:mutants --seed 1 --lines 20 --packages base,invalidation`; without names, every package and the gateway.
// Prints what survived, and the shares.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import vitest from '../../vitest.config.ts'
import { drawLines } from './lines.ts'

interface Report {
  readonly files: Readonly<Record<string, { readonly mutants: readonly Mutant[] }>>
}
interface Mutant {
  readonly location: { readonly start: { readonly line: number; readonly column: number } }
  readonly mutatorName: string
  readonly replacement: string
  readonly status: string
}

const PACKAGES = [
  'core',
  'defer-splitter',
  'grpc-source',
  'grpc-transport',
  'invalidation',
  'live-query',
  'node-handler',
  'response-cache',
  'rest-connector',
  'source-kit',
  'gateway',
]
/** Packages that are tested where they are used, and by whose tests. */
const TESTED_BY: Readonly<Record<string, readonly string[]>> = {
  core: ['packages/source-kit', 'packages/live-query', 'packages/defer-splitter'],
  'grpc-transport': ['packages/grpc-source'],
}
const { values } = parseArgs({
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: {
    seed: { type: 'string', default: '1' },
    lines: { type: 'string', default: '20' },
    packages: { type: 'string' },
  },
})
const root = fileURLToPath(new URL('../../', import.meta.url))
const stryker = fileURLToPath(new URL('node_modules/@stryker-mutator', import.meta.url))
const work = mkdtempSync(join(tmpdir(), 'mutants-'))
process.once('exit', () => rmSync(work, { recursive: true, force: true }))
const table: string[] = []
for (const name of values.packages?.split(',') ?? PACKAGES) {
  const folder = name === 'gateway' ? 'apps/gateway' : `packages/${name}`
  const report = join(work, `${name}.json`)
  const config = {
    mutate: drawLines(root, folder, Number(values.lines), Number(values.seed)),
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutants/vitest.config.ts', related: false },
    plugins: [pathToFileURL(`${stryker}/vitest-runner/dist/src/index.js`)],
    coverageAnalysis: 'perTest',
    // Stryker reads it by the API of an older TypeScript.
    tsconfigFile: 'none',
    concurrency: 2,
    // Its tests run in threads, which take no flags of their own.
    testRunnerNodeArgs: vitest.test?.execArgv,
    tempDirName: 'test/mutants/.sandbox',
    reporters: ['json'],
    jsonReporter: { fileName: report },
    logLevel: 'warn',
    warnings: false,
    timeoutMS: 20_000,
  }
  const file = join(work, `${name}.config.json`)
  writeFileSync(file, JSON.stringify(config))
  const { status } = spawnSync(process.execPath, [`${stryker}/core/bin/stryker.js`, 'run', file], {
    cwd: root,
    env: { ...process.env, MUTANTS_OF: [folder, ...(TESTED_BY[name] ?? [])].join(',') },
    stdio: 'inherit',
  })
  if (status !== 0) {
    table.push(`| ${name} | – | its tests fail where each line is counted |||`)
    continue
  }
  const { files } = JSON.parse(readFileSync(report, 'utf8')) as Report
  const mutants = Object.entries(files).flatMap(([path, of]) =>
    of.mutants.map((mutant) => ({ path, ...mutant })),
  )
  const count = (...statuses: string[]): number =>
    mutants.filter(({ status }) => statuses.includes(status)).length
  for (const { path, location, mutatorName, replacement, status } of mutants) {
    if (status !== 'Survived' && status !== 'NoCoverage') continue
    print(
      `${status}: ${path}:${location.start.line}:${location.start.column}, ${mutatorName}: ${replacement.slice(0, 100)}`,
    )
  }
  const all = count('Killed', 'Timeout', 'Survived', 'NoCoverage')
  table.push(
    `| ${name} | ${all} | ${count('Killed', 'Timeout')} | ${count('Survived')} | ${count('NoCoverage')} |`,
  )
  print(table.at(-1) ?? '')
}
print('| package | mutants | killed | survived | not run by any test |\n|---|--:|--:|--:|--:|')
table.forEach(print)

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
