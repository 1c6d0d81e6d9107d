import { defineConfig, type ViteUserConfig } from 'vitest/config'
import root from '../../vitest.config.ts'

// Routers that others wrote, in front of gateways as subgraphs. `npm install --prefix test/federation` brings them.
const config: ViteUserConfig = defineConfig({
  ...root,
  test: {
    ...root.test,
    include: ['test/federation/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
export default config
