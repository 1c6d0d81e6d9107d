import { defineConfig, type ViteUserConfig } from 'vitest/config'
import root from '../../vitest.config.ts'

// What users' clients see: the libraries themselves against a gateway with everything on.
const config: ViteUserConfig = defineConfig({
  ...root,
  test: { ...root.test, include: ['test/clients/**/*.test.ts'] },
})
export default config
