// Loads the modules of a gateway with a mark where an operation takes the prepared path, and with a fault, where one is put back.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const edits = process.env.PAIRS_FAULT ? JSON.parse(process.env.PAIRS_FAULT) : []

/** The bundle and the source say it in the same words. */
const PREPARED = '#execute(asked) {'
const IS_NODE_HANDLER = /\/packages\/node-handler\/(dist|src)\/.*\.[jt]s$/

export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:')) return nextLoad(url, context)
  if (url.endsWith('.ts') && !url.includes('/node_modules/')) {
    const { transform } = await import('rolldown/utils')
    const file = fileURLToPath(url)
    const { code } = await transform(file, faulty(file, await readFile(file, 'utf8')))
    return { format: 'module', source: marked(url, code), shortCircuit: true }
  }
  const loaded = await nextLoad(url, context)
  return IS_NODE_HANDLER.test(url) ? { ...loaded, source: marked(url, String(loaded.source)) } : loaded
}

function faulty(file, text) {
  return edits
    .filter((edit) => file.endsWith(`/${edit.file}`))
    .reduce((changed, { from, to }) => {
      if (changed.split(from).length !== 2) throw new Error(`${file} does not have once: ${from}`)
      return changed.replace(from, () => to)
    }, text)
}

function marked(url, text) {
  if (!IS_NODE_HANDLER.test(url)) return text
  return text.replace(PREPARED, `${PREPARED} globalThis.pairsNote?.('prepared')`)
}
