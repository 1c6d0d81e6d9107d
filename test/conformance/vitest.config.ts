import { defineConfig, type ViteUserConfig } from 'vitest/config'
import root from '../../vitest.config.ts'

// What must hold over all packages at once: thousands of generated operations, pairs of plugins, the house's own rules.
const config: ViteUserConfig = defineConfig({
  ...root,
  test: { ...root.test, include: ['test/conformance/**/*.test.ts'] },
})
export default config
