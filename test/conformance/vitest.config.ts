import { configDefaults, defineConfig, type ViteUserConfig } from 'vitest/config'
import root from '../../vitest.config.ts'

// What must hold over all packages at once: thousands of generated operations, pairs of plugins, the house's own rules;
// and the long properties of single packages.
const config: ViteUserConfig = defineConfig({
  ...root,
  test: {
    ...root.test,
    include: ['test/conformance/**/*.test.ts', '{packages,apps}/*/test/**/*.property.test.ts'],
    exclude: configDefaults.exclude,
    testTimeout: 240_000,
  },
})
export default config
