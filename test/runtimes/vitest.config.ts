import { defineConfig, type ViteUserConfig } from 'vitest/config'
import root from '../../vitest.config.ts'

// The packed packages, as a user installs them, on whatever runs JavaScript.
const config: ViteUserConfig = defineConfig({
  ...root,
  test: {
    ...root.test,
    include: ['test/runtimes/**/*.test.ts'],
    globalSetup: ['test/runtimes/support/install.ts'],
    testTimeout: 60_000,
    hookTimeout: 300_000,
  },
})
export default config
