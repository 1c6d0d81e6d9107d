import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, inject, it } from 'vitest'

const run = promisify(execFile)
const node = join(inject('installed'), 'node_modules/node-24/bin/node')
const measure = fileURLToPath(new URL('support/tick-cost.mjs', import.meta.url))
const gateway = fileURLToPath(new URL('../../apps/gateway/dist/main.js', import.meta.url))

async function tickIn(...program: readonly string[]): Promise<number> {
  // Not by `--import`, which the program would wait for.
  const start = `void import(${JSON.stringify(measure)}); await import(process.argv[1])`
  const { stdout } = await run(node, ['--expose-gc', '--input-type=module', '-e', start, ...program])
  return Number(/a tick: (\d+) ns/.exec(stdout)?.[1])
}

// Seen: 75 ns in the gateway, 550 in a program that keeps no tick.
it('in the gateway ticks stay as cheap as they were, whatever was collected', async ({ onTestFinished }) => {
  const folder = await mkdtemp(join(tmpdir(), 'vinyasa-ticks-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const config = join(folder, 'gateway.config.mjs')
  await writeFile(config, "export default { typeDefs: 'type Query { hello: String }' }")
  const other = join(folder, 'other.mjs')
  await writeFile(other, "import { createServer } from 'node:http'; createServer().listen(0)")
  const kept = await tickIn(gateway, 'start', '--config', config, '--port', '0')
  expect(kept / (await tickIn(other))).toBeLessThan(0.75)
})
