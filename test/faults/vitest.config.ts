import { defineConfig, type ViteUserConfig } from 'vitest/config'
import root from '../../vitest.config.ts'

// Faults are injected on a clock that runs: one file at a time, so that each has the machine to itself.
const config: ViteUserConfig = defineConfig({
  ...root,
  test: {
    ...root.test,
    include: ['test/faults/**/*.test.ts'],
    globalSetup: ['test/faults/support/results.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
export default config
