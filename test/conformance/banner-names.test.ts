import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sourceFilesUnder } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

// Bundles of ES modules begin with `import { createRequire } from 'module'`, so that modules of CommonJS in them find Node's: a
// second import of the name, under which bundlers keep it, does not start. `test/runtimes` starts such bundles.
it('no module imports createRequire by its name', () => {
  const isNamed = /import [^'"]*\{[^}]*\bcreateRequire\b[^}]*\} from ['"](?:node:)?module['"]/
  expect(isNamed.test("import { isBuiltin, createRequire as other } from 'node:module'")).toBe(true)
  const found = ['packages', 'apps']
    .flatMap((folder) => sourceFilesUnder(root, folder))
    .filter((file) => isNamed.test(readFileSync(`${root}/${file}`, 'utf8')))
  expect(found).toEqual([])
})
