import { defineConfig, type ViteUserConfig } from 'vitest/config'
import root from '../../vitest.config.ts'

// The packed packages, as a user installs them, on whatever runs JavaScript.
const config: ViteUserConfig = defineConfig({
  ...root,
  test: {
    ...root.test,
    include: ['test/runtimes/**/*.test.ts'],
    globalSetup: ['test/runtimes/support/install.ts'],
    testTimeout: 300_000,
    hookTimeout: 600_000,
    // Two cores, and most of the time is waiting for programs to start.
    maxConcurrency: 3,
  },
})
export default config
