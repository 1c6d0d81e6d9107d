import { defineConfig, type ViteUserConfig } from 'vitest/config'
import root from '../../vitest.config.ts'

// What is built and deployed, as processes: slower than the tests of the README's command.
const config: ViteUserConfig = defineConfig({
  ...root,
  test: { ...root.test, include: ['test/deploy/**/*.test.ts'] },
})
export default config
