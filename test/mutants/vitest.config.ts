import type { ViteUserConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

const tested = (process.env['MUTANTS_OF'] ?? '').split(',')

/** The tests of the one package whose source is changed, and of those that test it. */
const config: ViteUserConfig = {
  ...base,
  test: { ...base.test, include: tested.map((folder) => `${folder}/test/**/*.test.ts`) },
}
export default config
