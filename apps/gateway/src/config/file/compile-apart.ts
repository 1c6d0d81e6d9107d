import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import nodeModule from 'node:module'
import { Worker } from 'node:worker_threads'
import { createJiti, type JitiOptions, type TransformOptions } from 'jiti'

/** Runs in the thread; text, as the thread has no file of its own where the gateway is run from its sources. */
const COMPILE = `
  const { jiti, folder, file } = require('node:worker_threads').workerData
  require(jiti)(folder, { fsCache: folder }).transform(file)
`

/**
 * Puts the JavaScript of a TypeScript module into jiti's cache, unless it is there. It is compiled in a thread of its
 * own: the compiler takes a fifth of a gateway's memory, which is given back when the thread ends. Whatever goes wrong
 * there is left to jiti, which then compiles by itself and says what is wrong.
 */
export async function compileApart(filename: string, folder: string): Promise<void> {
  const file: TransformOptions = { filename, source: await readFile(filename, 'utf8'), ts: true, async: true }
  if (isCached(file, { fsCache: folder })) return
  const workerData = { jiti: nodeModule.createRequire(import.meta.url).resolve('jiti'), folder, file }
  const worker = new Worker(COMPILE, { eval: true, execArgv: [], workerData, stderr: true })
  worker.once('error', () => {})
  await once(worker, 'exit').catch(() => {})
}

function isCached(file: TransformOptions, options: JitiOptions): boolean {
  let isCompiled = true
  const transform = (): never => {
    isCompiled = false
    throw new Error('not cached')
  }
  try {
    createJiti(import.meta.url, { ...options, transform }).transform(file)
  } catch {
    // The transform's own error, or a cache that cannot be read.
  }
  return isCompiled
}
