import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, spawnProcess, waitUntil } from '@vinyasa/test-kit'
import type { Start } from './host.ts'

const execute = promisify(execFile)

export type Arguments = readonly [string, ...string[]]

/** A package manager that runs the tests shows its modules to every program below it. */
const outside = { NODE_PATH: undefined, NEXT_TELEMETRY_DISABLED: '1' }

export const bin = (installed: string, name: string): string => join(installed, 'node_modules/.bin', name)

/** Runs a program that listens on `PORT` and waits until it answers. */
export async function serve(
  start: Start,
  cwd: string,
  args: Arguments,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  for (;;) {
    try {
      return await serveOn(await freePort(), start, cwd, args, more)
    } catch (error) {
      // Somebody was quicker: the port was free a moment ago.
      if (!/EADDRINUSE|address already in use/i.test(String(error))) throw error
    }
  }
}

async function serveOn(
  port: number,
  { disposables }: Start,
  cwd: string,
  [command, ...args]: Arguments,
  more: Readonly<Record<string, string>>,
): Promise<string> {
  const env = { ...outside, NODE_ENV: 'development', ...more, PORT: String(port) }
  const placed = args.map((arg) => arg.replace('$PORT', String(port)))
  const program = disposables.use(await spawnProcess({ command, args: placed, cwd, env }))
  const url = `http://127.0.0.1:${port}/graphql`
  const answers = async (): Promise<boolean> => {
    await (await fetch(`${url}?query={__typename}`)).text()
    return true
  }
  await waitUntil(async () => !program.isRunning() || (await answers()), {
    timeoutMs: 120_000,
    everyMs: 50,
    awaited: `${command} ${placed.join(' ')} to listen`,
  }).catch((error: Error) => {
    throw new Error(`${error.message}. It wrote:\n${program.output()}`, { cause: error })
  })
  if (!program.isRunning()) throw new Error(`It ended, and wrote:\n${program.output()}`)
  return url
}

/** Runs a program to its end. Rejects with what it wrote when it fails. */
export async function run(
  cwd: string,
  [command, ...args]: Arguments,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const env = { ...process.env, ...outside, NODE_ENV: undefined, ...more }
  await execute(command, args, { cwd, env }).catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${command} ${args.join(' ')}: ${error.stderr}${error.stdout}`, { cause: error })
  })
}

/** One of an example's own scripts, with what is installed on the path. */
export function runScript(
  installed: string,
  cwd: string,
  name: string,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const PATH = `${join(installed, 'node_modules/.bin')}:${process.env['PATH']}`
  return run(cwd, ['npm', 'run', name], { ...more, PATH })
}

/** A folder of its own for one example on one host, with the files that the example reads. */
export function folderFor({ installed, plugin }: Start, host: string): string {
  const folder = join(installed, 'cells', host, plugin.name)
  mkdirSync(folder, { recursive: true })
  for (const [file, text] of Object.entries(plugin.files ?? {})) writeFileSync(join(folder, file), text)
  return folder
}
