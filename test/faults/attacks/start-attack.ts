import { setMaxListeners } from 'node:events'
import { fileURLToPath } from 'node:url'
import { spawnProcess, type SpawnedProcess } from '@vinyasa/test-kit'
import type { Attack } from './attack.ts'

/** Starts a script of this folder as a process; resolves when it says that it is ready. */
export function startScript(file: string, args: readonly string[], ready: RegExp): Promise<SpawnedProcess> {
  return spawnProcess({
    command: process.execPath,
    args: ['--import', 'jiti/register', fileURLToPath(new URL(file, import.meta.url)), ...args],
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    ready,
    readyTimeoutMs: 90_000,
  })
}

/** Runs an attack in a process of its own until the signal ends it. */
export async function startAttack(
  { name }: Attack,
  url: string,
  seed: number,
  signal: AbortSignal,
): Promise<void> {
  setMaxListeners(0, signal)
  const attacker = await startScript('attacker.ts', [url, name, String(seed)], /attacking/)
  const ended = new Promise<'ended'>((resolve) =>
    signal.addEventListener('abort', () => resolve('ended'), { once: true }),
  )
  const how = signal.aborted ? 'ended' : await Promise.race([ended, attacker.exited])
  if (how !== 'ended') throw new Error(`the attack "${name}" failed:\n${attacker.output()}`)
  await attacker.kill('SIGTERM', 3_000).catch(() => attacker.kill('SIGKILL'))
}
