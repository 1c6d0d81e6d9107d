import { defineConfig, type ViteUserConfig } from 'vitest/config'
import root from '../../vitest.config.ts'

// Redis behind Sentinel, as a cluster, over TLS, and NATS; started for real, and killed.
const config: ViteUserConfig = defineConfig({
  ...root,
  test: { ...root.test, include: ['test/brokers/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 120_000 },
})
export default config
