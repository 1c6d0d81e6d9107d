import { configDefaults, defineConfig, type ViteUserConfig } from 'vitest/config'
import root from '../../../../vitest.config.ts'

// GraphiQL and the status page in Chromium.
const config: ViteUserConfig = defineConfig({
  ...root,
  test: {
    ...root.test,
    include: ['apps/gateway/test/browser/**/*.test.ts'],
    exclude: configDefaults.exclude,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
export default config
