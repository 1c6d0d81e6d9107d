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

/** An attack that goes on. */
export interface Attacker {
  /** Ends it with the signal; rejects when it ended by itself. */
  until(signal: AbortSignal): Promise<void>
}

/** Starts attacks in a process of their own; resolves when they attack. */
export async function startAttack(attacks: readonly Attack[], url: string, seed: number): Promise<Attacker> {
  const names = attacks.map(({ name }) => name)
  const attacker = await startScript('attacker.ts', [url, String(seed), ...names], /attacking/)
  return {
    async until(signal) {
      setMaxListeners(0, signal)
      const ended = new Promise<'ended'>((resolve) =>
        signal.addEventListener('abort', () => resolve('ended'), { once: true }),
      )
      const how = signal.aborted ? 'ended' : await Promise.race([ended, attacker.exited])
      if (how !== 'ended') throw new Error(`the attack "${names.join(' + ')}" failed:\n${attacker.output()}`)
      await attacker.kill('SIGTERM', 3_000).catch(() => attacker.kill('SIGKILL'))
    },
  }
}
