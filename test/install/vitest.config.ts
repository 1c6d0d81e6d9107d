import { defineConfig, type ViteUserConfig } from 'vitest/config'
import root from '../../vitest.config.ts'

// The packages as a stranger gets them: from a registry, by each package manager, on the ends of what they claim.
const config: ViteUserConfig = defineConfig({
  ...root,
  test: {
    ...root.test,
    include: ['test/install/**/*.test.ts'],
    globalSetup: ['test/install/support/setup.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    maxConcurrency: 2,
  },
})
export default config
