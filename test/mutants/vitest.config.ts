import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ViteUserConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

const tested = (process.env['MUTANTS_OF'] ?? '').split(',')
const packages = new URL('../../packages/', import.meta.url)

/** To the sources beside this file: links in `node_modules` lead out of the copy that has the changed lines. */
const sources = readdirSync(packages).flatMap((folder) => {
  const { name, exports } = JSON.parse(
    readFileSync(new URL(`${folder}/package.json`, packages), 'utf8'),
  ) as Manifest
  return Object.entries(exports).flatMap(([path, to]) =>
    typeof to === 'string'
      ? []
      : [
          {
            find: new RegExp(`^${name}${path.slice(1)}$`),
            replacement: fileURLToPath(new URL(`${folder}/${to['@vinyasa/source']}`, packages)),
          },
        ],
  )
})
interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | { readonly '@vinyasa/source': string }>>
}

/** The tests of the one package whose source is changed, and of those that test it. */
const config: ViteUserConfig = {
  ...base,
  resolve: { alias: [...sources, ...((base.resolve?.alias ?? []) as [])] },
  test: {
    ...base.test,
    include: tested.map((folder) => `${folder}/test/**/*.test.ts`),
    // The process of the threads has them.
    execArgv: [],
  },
}
export default config
