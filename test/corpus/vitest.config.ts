import { defineConfig, type ViteUserConfig } from 'vitest/config'
import root from '../../vitest.config.ts'

// Documents that strangers wrote. `npm install --prefix test/corpus` brings them.
const config: ViteUserConfig = defineConfig({
  ...root,
  test: { ...root.test, include: ['test/corpus/**/*.test.ts'], testTimeout: 600_000, hookTimeout: 600_000 },
})
export default config
