// Runs every property test with a random seed or with a given seed: `pnpm test:seeds [SEED]`.
import { execFileSync, spawnSync } from 'node:child_process'

const seed = Number(process.argv[2] ?? Math.floor(Math.random() * 2 ** 31))
const files = execFileSync('git', ['grep', '-l', "'fast-check'", '--', '*.test.ts'], { encoding: 'utf8' })
  .trim()
  .split('\n')
const suites = [
  {
    files: files.filter((file) => !file.startsWith('test/') && !file.endsWith('.property.test.ts')),
    config: [],
  },
  {
    files: files.filter((file) => file.startsWith('test/conformance/') || file.endsWith('.property.test.ts')),
    config: ['--config', 'test/conformance/vitest.config.ts'],
  },
]
const env = { ...process.env, SEED: String(seed) }
const failed = suites.filter(
  ({ files: given, config }) =>
    spawnSync('pnpm', ['exec', 'vitest', 'run', '--no-isolate', ...config, ...given], {
      stdio: 'inherit',
      env,
    }).status !== 0,
)
process.stdout.write(`seed ${seed}; replay with pnpm test:seeds ${seed}\n`)
process.exitCode = failed.length > 0 ? 1 : 0
