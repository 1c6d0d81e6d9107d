// Loaded before a gateway of a row: writes down each parse, each validation and each operation on the prepared path.
import { appendFileSync } from 'node:fs'
import { createRequire, register } from 'node:module'
import { join } from 'node:path'

register('./load.mjs', import.meta.url)

const file = join(process.env.PAIRS_FOLDER, 'phases')
globalThis.pairsNote = (phase) => appendFileSync(file, `${phase}\n`)

const require = createRequire(new URL('../../../apps/gateway/package.json', import.meta.url))
for (const [module, name] of [
  ['graphql/language/parser.js', 'parse'],
  ['graphql/validation/validate.js', 'validate'],
]) {
  const exported = require(module)
  const original = exported[name]
  exported[name] = (...given) => {
    globalThis.pairsNote(name)
    return original(...given)
  }
}
