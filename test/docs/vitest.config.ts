import { defineConfig, type ViteUserConfig } from 'vitest/config'
import root from '../../vitest.config.ts'

// The documentation: its pages, and every block of code in them.
const config: ViteUserConfig = defineConfig({
  ...root,
  test: { ...root.test, include: ['test/docs/**/*.test.ts'], testTimeout: 60_000 },
})
export default config
