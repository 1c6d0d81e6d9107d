import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { describe } from 'vitest'
import { startRestartable, type RestartableServer } from './restartable.ts'
import { spawnProcess } from './spawned.ts'

export interface RedisServer extends RestartableServer {
  /** `redis://127.0.0.1:<port>` */
  readonly url: string
}

/** The `redis-server` on PATH, if there is one. */
export function findRedisServer(): string | undefined {
  return findProgram('redis-server')
}

function findProgram(name: string): string | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, name)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // not here
    }
  }
  return undefined
}

/** Starts a `redis-server` of one's own on a free port, that keeps nothing on disk. */
export async function startRedis(): Promise<RedisServer> {
  const command = findRedisServer()
  if (!command) throw new Error('No redis-server on PATH. Install it (Debian: apt-get install redis-server).')
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-redis-'))
  const server = await startRestartable(
    (port) =>
      spawnProcess({
        command,
        args: [
          '--port',
          String(port),
          '--bind',
          '127.0.0.1',
          '--save',
          '',
          '--appendonly',
          'no',
          '--dir',
          folder,
        ],
        ready: /ready to accept connections/i,
      }),
    () => rmSync(folder, { recursive: true, force: true }),
  )
  return { ...server, url: `redis://127.0.0.1:${server.port}` }
}

/**
 * `describe` for suites that need Redis. Without a `redis-server` on PATH they are skipped with one loud line,
 * and fail where `CI` is set.
 */
export function describeWithRedis(name: string, suite: () => void): void {
  describeWith('redis-server', name, suite)
}

/** The same, for a server of another name, which is that of its Debian package too. */
export function describeWith(program: string, name: string, suite: () => void): void {
  // Where it must not be missing the suite runs, and starting it fails with the reason.
  const skip = !findProgram(program) && !process.env['CI']
  if (skip)
    process.stderr.write(`\n!!! SKIPPED "${name}": no ${program} on PATH (apt-get install ${program})\n`)
  // oxlint-disable-next-line vitest/valid-title, vitest/valid-describe-callback -- they are this function's arguments
  describe.skipIf(skip)(name, suite)
}
