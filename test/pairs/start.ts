import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, type Random, spawnProcess, type SpawnedProcess, waitUntil } from '@vinyasa/test-kit'
import { stringify } from 'yaml'
import { repository } from '../e2e/support/demo.ts'
import { isData, mergePieces, type Piece, toSource } from './config-file.ts'
import type { Drawn } from './feature.ts'

/** A folder for a row's files, which goes with it. */
export function openFolder(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'vinyasa-pairs-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** Writes the config as a user would: YAML or JSON where they can hold it, else a module. */
export function writeConfig(folder: string, drawn: readonly Drawn[], random: Random): string {
  const config = mergePieces(drawn.map(({ piece }) => piece))
  const form = isData(config) ? random.pick(['json', 'yaml'] as const) : random.pick(['mjs', 'ts'] as const)
  const file = join(folder, `gateway.config.${form}`)
  writeFileSync(file, textOf(config, form))
  return file
}

function textOf(config: Piece, form: 'json' | 'yaml' | 'mjs' | 'ts'): string {
  switch (form) {
    case 'json':
      return JSON.stringify(config, null, 2)
    case 'yaml':
      return stringify(config)
    case 'mjs':
      return `export default ${toSource(config)}\n`
    case 'ts':
      return `const config: object = ${toSource(config)}\nexport default config\n`
  }
}

/** What `vinyasa check` says of the file. */
export async function check(
  file: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const checked = await spawnProcess({ command: process.execPath, args: [main(), 'check', '--config', file] })
  const { code } = await checked.exited
  return { code, output: checked.output() }
}

export interface Started {
  readonly process: SpawnedProcess
  readonly port: number
}

/** Starts the built gateway and waits until it is ready, whatever it logs. */
export async function start(file: string, args: readonly string[], workers: number): Promise<Started> {
  // A gateway that logs nothing does not say where it listens.
  const port = await freePort()
  const started = await spawnProcess({
    command: process.execPath,
    args: [main(), 'start', '--config', file, '--port', String(port), ...args],
  })
  try {
    const ended = started.exited.then(({ code }) => Promise.reject(new Error(`it ended with ${code}`)))
    const ready = waitUntil(
      async () => (await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined))?.ok,
      { timeoutMs: 60_000, awaited: 'readiness' },
    )
    await Promise.race([ready, ended])
    await allReady(started, workers)
  } catch (error) {
    const output = started.output()
    await started[Symbol.asyncDispose]()
    throw new Error(`The gateway did not start: ${(error as Error).message}\n${output}`, { cause: error })
  }
  return { process: started, port }
}

/** Of several processes each says so; where none may, they are given some time. */
async function allReady({ lines }: SpawnedProcess, workers: number): Promise<void> {
  if (workers === 1) return
  const silentUntil = performance.now() + 4_000
  const ready = (): number => lines.filter((line) => line.includes('gateway ready')).length
  await waitUntil(() => ready() >= workers || (lines.length === 0 && performance.now() > silentUntil), {
    timeoutMs: 60_000,
    awaited: 'readiness of all workers',
  })
}

const main = (): string => repository('apps/gateway/dist/main.js')
