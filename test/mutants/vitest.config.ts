import type { ViteUserConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

/** The tests of the one package whose source is changed. */
const config: ViteUserConfig = {
  ...base,
  test: { ...base.test, include: [`${process.env['MUTANTS_OF']}/test/**/*.test.ts`] },
}
export default config
