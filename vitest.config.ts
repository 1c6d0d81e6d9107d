import { appendFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig, type ViteUserConfig } from 'vitest/config'
import type { Reporter } from 'vitest/node'

// GRAPHQL=17 runs the unit tests on graphql 17 (Node 22 and newer): every import of `graphql`,
// from our sources and from dependencies, is sent to the second installed version.
const graphql17 = process.env['GRAPHQL'] === '17'
const require = createRequire(import.meta.url)

// CI reads the counts from a JSON report.
const jsonReport = process.env['VITEST_JSON']

/** Names what was green at its second attempt only: CI prints the list at its end. */
const secondAttempts: Reporter = {
  onTestCaseResult(test) {
    if (jsonReport && test.diagnostic()?.flaky)
      appendFileSync(`${jsonReport}.flaky`, `${test.module.relativeModuleId} > ${test.fullName}\n`)
  },
}

const config: ViteUserConfig = defineConfig({
  resolve: {
    // Without the alias our sources would get graphql's `module` build and Node's packages its `main`: two realms.
    alias: [{ find: /^graphql$/, replacement: require.resolve(graphql17 ? 'graphql-17' : 'graphql') }],
  },
  // Node gets these too: `import` here would hand ES modules to a dependency's `require`.
  ssr: { resolve: { conditions: ['@vinyasa/source', 'node'] } },
  oxc: { target: 'node20' },
  test: {
    include: graphql17
      ? ['packages/*/test/**/*.test.ts']
      : [
          'packages/*/test/**/*.test.ts',
          'apps/*/test/**/*.test.ts',
          'test/{kit,e2e,bench,pairs/faults}/**/*.test.ts',
        ],
    // Suites of their own: what starts a browser, and what runs long and is rarely red (`test:conformance`).
    exclude: [
      ...configDefaults.exclude,
      'apps/gateway/test/browser/**',
      ...(graphql17 ? [] : ['**/*.property.test.ts']),
    ],
    // Most of a test's time is waiting: on two cores vitest would leave one idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    reporters: jsonReport ? ['default', ['json', { outputFile: jsonReport }], secondAttempts] : ['default'],
    // From the start: what is optimised before would still make new objects old at once (test/kit's `survivingShare`).
    execArgv: ['--no-allocation-site-pretenuring'],
    // In CI alone: a busy machine is no fault of the change, and by hand a flake is to be seen at once.
    retry: jsonReport ? 1 : 0,
    setupFiles: [fileURLToPath(new URL('test/seed.ts', import.meta.url))],
    // All comes late on a busy machine; only what fails takes so long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 45_000, interval: 10 } },
    // ioredis is CommonJS and knows nothing of graphql: inlined it would lose its named exports.
    server: graphql17 ? { deps: { inline: [/^(?!.*\/ioredis\/)/] } } : {},
  },
})
export default config
