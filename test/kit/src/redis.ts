import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { describe } from 'vitest'
import { freePort } from './free-port.ts'
import { spawnProcess, type SpawnedProcess } from './spawned.ts'

export interface RedisServer {
  readonly port: number
  /** `redis://127.0.0.1:<port>` */
  readonly url: string
  readonly pid: number
  /** kill -9: connections break, nothing is saved. */
  kill(): Promise<void>
  /** SIGSTOP: connections stay open, nothing answers. */
  stop(): void
  /** SIGCONT after `stop`. */
  cont(): void
  /** Starts an empty server on the same port again, ending the running one first. */
  restart(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** The `redis-server` on PATH, if there is one. */
export function findRedisServer(): string | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, 'redis-server')
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
  const start = (port: number): Promise<SpawnedProcess> =>
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
    })

  const port = await freePort()
  let server = await start(port)
  async function kill(): Promise<void> {
    await server.kill('SIGKILL')
  }
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return server.pid
    },
    kill,
    stop: () => server.stop(),
    cont: () => server.cont(),
    async restart() {
      await kill()
      server = await start(port)
    },
    async [Symbol.asyncDispose]() {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * `describe` for suites that need Redis. Without a `redis-server` on PATH they are skipped with one loud line,
 * and fail where `CI` is set.
 */
export function describeWithRedis(name: string, suite: () => void): void {
  // Where it must not be missing the suite runs, and startRedis fails with the reason.
  const skip = !findRedisServer() && !process.env['CI']
  if (skip) {
    process.stderr.write(`\n!!! SKIPPED "${name}": no redis-server on PATH (apt-get install redis-server)\n`)
  }
  // oxlint-disable-next-line vitest/valid-title, vitest/valid-describe-callback -- they are this function's arguments
  describe.skipIf(skip)(name, suite)
}
