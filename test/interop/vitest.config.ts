import { defineConfig, type ViteUserConfig } from 'vitest/config'
import root from '../../vitest.config.ts'

// Against servers of other makes, some of which are built first: README.md says what has to be installed.
const config: ViteUserConfig = defineConfig({
  ...root,
  test: { ...root.test, include: ['test/interop/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 300_000 },
})
export default config
