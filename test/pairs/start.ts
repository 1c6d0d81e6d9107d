import { existsSync, readdirSync, readFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  freePort,
  type Random,
  spawnProcess,
  type SpawnedProcess,
  type SpawnOptions,
  waitUntil,
} from '@vinyasa/test-kit'
import { stringify } from 'yaml'
import { repository } from '../e2e/support/demo.ts'
import { isData, mergePieces, type Piece, toSource } from './config-file.ts'
import type { Drawn } from './feature.ts'
import type { Fault } from './faults/fault.ts'

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

/** One gateway that is to be started. */
export interface Gateway {
  readonly file: string
  /** The path of the probe of readiness. Default: that of the gateway. */
  readonly readyPath?: string
  /** Where its instruments write. Default: it has none. */
  readonly folder?: string
  /** Further arguments of `vinyasa start`. */
  readonly args?: readonly string[]
  /** Addresses of modules that are loaded before it. */
  readonly imports?: readonly string[]
  /** Default 1. */
  readonly workers?: number
  /** `node`, the default, `npm start` or `npx`, which write into the folder. */
  readonly launcher?: string
  readonly fault?: Fault | undefined
}

const INSTRUMENTS = new URL('instruments/register.mjs', import.meta.url).href

/** Arguments of node: the built package, or its sources with a fault put back. */
function programOf({ folder, fault, imports = [] }: Gateway): readonly string[] {
  return [
    ...(fault ? ['--conditions=@vinyasa/source'] : []),
    ...[...(folder === undefined ? [] : [INSTRUMENTS]), ...imports].flatMap((address) => [
      '--import',
      address,
    ]),
    repository(fault ? 'apps/gateway/src/main.ts' : 'apps/gateway/dist/main.js'),
  ]
}

function environmentOf({ folder, fault }: Gateway): Readonly<Record<string, string | undefined>> {
  return { PAIRS_FOLDER: folder, PAIRS_FAULT: fault && JSON.stringify(fault.edits) }
}

/** What `vinyasa check` says of the file. */
export async function check(
  gateway: Gateway,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const checked = await spawnProcess({
    command: process.execPath,
    args: [...programOf({ ...gateway, imports: [] }), 'check', '--config', gateway.file],
    env: environmentOf(gateway),
  })
  const { code } = await checked.exited
  return { code, output: checked.output() }
}

export interface Started {
  readonly process: SpawnedProcess
  readonly port: number
  /** Whether every process has ended that the launcher began. */
  isGone(): boolean
}

/** Starts the gateway by its launcher and waits until it is ready, whatever it logs. */
export async function start(gateway: Gateway): Promise<Started> {
  // A gateway that logs nothing does not say where it listens.
  const port = await freePort()
  const started = await spawnProcess(launched(gateway, port))
  try {
    const ended = started.exited.then(({ code }) => Promise.reject(new Error(`it ended with ${code}`)))
    const ready = waitUntil(
      async () =>
        (
          await fetch(`http://127.0.0.1:${port}${gateway.readyPath ?? '/health/ready'}`).catch(
            () => undefined,
          )
        )?.ok,
      { timeoutMs: 60_000, awaited: 'readiness' },
    )
    await Promise.race([ready, ended])
    await allReady(started, gateway.workers ?? 1)
  } catch (error) {
    const output = started.output()
    await started[Symbol.asyncDispose]()
    throw new Error(`The gateway did not start: ${(error as Error).message}\n${output}`, { cause: error })
  }
  return { process: started, port, isGone: () => !isGroupAlive(started.pid) }
}

/** The command as a user types it: node itself, a script of a package.json, or npx. */
function launched(gateway: Gateway, port: number): SpawnOptions {
  const { launcher = 'node', folder = '', file, args = [] } = gateway
  const env = environmentOf(gateway)
  const own = ['start', '--config', file, '--port', String(port), ...args]
  const program = [...programOf(gateway), ...own]
  if (launcher === 'node') return { command: process.execPath, args: program, env, group: true }
  const text = [process.execPath, ...program].map((one) => `"${one}"`).join(' ')
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, scripts: { start: text } }))
  const command = launcher === 'npx' ? 'npx -c "$START"' : 'npm start'
  return {
    command: 'sh',
    args: ['-c', `exec ${command}`],
    cwd: folder,
    env: { ...env, ...withoutSettingsOfNpm(), START: text },
    group: true,
  }
}

/** What runs the suite hands its own settings down, of which npm warns. */
function withoutSettingsOfNpm(): Readonly<Record<string, undefined>> {
  const names = Object.keys(process.env).filter((name) => /^npm_/i.test(name))
  return Object.fromEntries(names.map((name) => [name, undefined]))
}

function isGroupAlive(leader: number): boolean {
  try {
    process.kill(-leader, 0)
  } catch {
    return false
  }
  if (!existsSync('/proc/self')) return true
  // Those that have ended count until whoever adopted them has reaped them, which may take a second.
  return readdirSync('/proc').some((pid) => /^\d+$/.test(pid) && isRunningIn(leader, pid))
}

function isRunningIn(group: number, pid: string): boolean {
  try {
    const [, state, itsGroup] = /^.*\) (\S) \d+ (\d+) /s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return state !== 'Z' && Number(itsGroup) === group
  } catch {
    // It has been reaped meanwhile.
    return false
  }
}

/** Of several processes each says so; where none may, they are given some time. */
async function allReady({ lines }: SpawnedProcess, workers: number): Promise<void> {
  if (workers === 1) return
  const silentUntil = performance.now() + 4_000
  const ready = (): number => lines.filter((line) => line.includes('gateway ready')).length
  // A package manager says what it runs.
  const isSilent = (): boolean => lines.every((line) => line === '' || line.startsWith('>'))
  await waitUntil(() => ready() >= workers || (isSilent() && performance.now() > silentUntil), {
    timeoutMs: 60_000,
    awaited: 'readiness of all workers',
  })
}
