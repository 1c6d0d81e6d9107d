import { defineConfig, type ViteUserConfig } from 'vitest/config'
import root from '../../vitest.config.ts'

// Rows are processes on a clock that runs: one file at a time.
const config: ViteUserConfig = defineConfig({
  ...root,
  test: {
    ...root.test,
    include: ['test/pairs/**/*.test.ts'],
    fileParallelism: false,
    // What a seed finds is no matter of luck.
    retry: 0,
    testTimeout: 240_000,
  },
})
export default config
