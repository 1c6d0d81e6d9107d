import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  describeWithRedis,
  spawnProcess,
  startRedis,
  temporaryFolder,
  type SpawnedProcess,
} from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'

// The built program, as users run it: `pnpm test` builds it first.
const MAIN = fileURLToPath(new URL('../../apps/gateway/dist/main.js', import.meta.url))
const WORKERS = 3

interface Workers {
  readonly gateway: SpawnedProcess
  /** Of processes that have said that they are ready. */
  readonly pids: () => readonly string[]
  /** Writes another version; `more` is code of the config. */
  write(version: string, more?: string): Promise<void>
  /** What each process serves. */
  served(): Promise<Readonly<Record<string, string>>>
  /** Messages of the log that begin so. */
  said(beginning: string): readonly { readonly pid: number; readonly reason?: string }[]
}

async function startWorkers(more = '', ...flags: readonly string[]): Promise<Workers> {
  const folder = await temporaryFolder('reloads')
  const file = join(folder, 'gateway.config.ts')
  const write = (version: string, code = ''): Promise<void> =>
    writeFile(
      file,
      `import { existsSync } from 'node:fs'
       export default {
         log: { format: 'json' },
         server: { port: 0 },
         typeDefs: 'type Query { who: String! }',
         resolvers: { Query: { who: () => process.pid + ' ${version}' } },
         ${code}
       }`,
    )
  await write('old', more)
  const gateway = await spawnProcess({
    command: process.execPath,
    args: [MAIN, 'start', '--config', file, '--workers', String(WORKERS), ...flags],
    ready: /"url":"(http:[^"]+)\/graphql".*"msg":"gateway ready"/,
  })
  onTestFinished(() => gateway[Symbol.asyncDispose]())
  const pids = (): readonly string[] =>
    gateway.lines.flatMap((line) => line.match(/"pid":(\d+).*gateway ready/)?.[1] ?? [])
  await expect.poll(() => pids().length, { timeout: 40_000 }).toBe(WORKERS)
  return {
    gateway,
    pids,
    write,
    async served() {
      const found: Record<string, string> = {}
      // Connections are handed out in turn.
      for (let turn = 0; turn < 2 * WORKERS; turn++) {
        const response = await fetch(`${gateway.ready?.[1]}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', connection: 'close' },
          body: '{"query":"{ who }"}',
        })
        const { data } = (await response.json()) as { data: { who: string } }
        const [pid = '', version = ''] = data.who.split(' ')
        found[pid] = version
      }
      return found
    },
    said: (beginning) =>
      gateway.lines.flatMap((line) => {
        const { msg, ...rest } = JSON.parse(line) as { msg: string; pid: number; reason?: string }
        return msg.startsWith(beginning) ? [rest] : []
      }),
  }
}

/** Code of a config that the processes cannot have as long as a file is there. */
async function oddness(pids: readonly string[]): Promise<{ readonly path: string; readonly code: string }> {
  const path = join(await temporaryFolder('odd'), 'odd')
  await writeFile(path, '')
  const isOdd = `[${pids.join()}].includes(process.pid) && existsSync(${JSON.stringify(path)})`
  // Nobody listens on port 1.
  return { path, code: `redisUrl: ${isOdd} ? 'redis://127.0.0.1:1' : undefined,` }
}

function all(pids: readonly string[], version: string): Readonly<Record<string, string>> {
  return Object.fromEntries(pids.map((pid) => [pid, version]))
}

it('one worker that cannot have the new configuration keeps all with the old, and it is tried again', async () => {
  const { gateway, pids, write, served, said } = await startWorkers()
  const { path, code } = await oddness([pids()[1]!])
  await write('new', code)
  gateway.signal('SIGHUP')
  await gateway.waitForLine(/reload failed/, 40_000)
  expect(await served()).toEqual(all(pids(), 'old'))
  const [{ reason } = { reason: '' }] = said('reload failed')
  expect(reason).toMatch(
    /gateway\.config\.ts: redisUrl: cannot connect to 127\.0\.0\.1:1 .*; start Redis, or correct/,
  )
  await rm(path)
  await expect.poll(() => said('reloaded').length, { timeout: 40_000 }).toBe(WORKERS)
  expect(await served()).toEqual(all(pids(), 'new'))
  expect(said('reload failed')).toHaveLength(1)
})

it('a config that cannot be used is refused by all and said once', async () => {
  const { gateway, pids, write, served, said } = await startWorkers()
  await write('new', 'sever: {},')
  gateway.signal('SIGHUP')
  await gateway.waitForLine(/reload failed/, 40_000)
  expect(await served()).toEqual(all(pids(), 'old'))
  await write('mended')
  gateway.signal('SIGHUP')
  await expect.poll(() => said('reloaded').length, { timeout: 40_000 }).toBe(WORKERS)
  expect(await served()).toEqual(all(pids(), 'mended'))
  expect(said('reload failed')).toMatchObject([{ reason: expect.stringContaining('sever: unknown setting') }])
})

it('--watch: all workers reload together, once', async () => {
  const { pids, write, served, said } = await startWorkers('', '--watch')
  await write('saved')
  await expect.poll(() => said('reloaded').length, { timeout: 40_000 }).toBe(WORKERS)
  expect(await served()).toEqual(all(pids(), 'saved'))
})

it('a worker that takes the place of another while a reload waits has all brought to its configuration', async () => {
  const { gateway, pids, write, served, said } = await startWorkers()
  const old = pids()
  const { path, code } = await oddness(old)
  await write('new', code)
  gateway.signal('SIGHUP')
  await gateway.waitForLine(/reload failed/, 40_000)
  await rm(path)
  process.kill(Number(old[0]), 'SIGKILL')
  await expect.poll(() => pids().length, { timeout: 40_000 }).toBe(WORKERS + 1)
  await expect.poll(served, { timeout: 40_000 }).toEqual(all(pids().slice(1), 'new'))
  expect(said('reload failed')).toHaveLength(1)
})

describeWithRedis('with Redis', () => {
  it('a reload while Redis is away is one of all workers, and says that it is away', async () => {
    await using redis = await startRedis()
    const { gateway, pids, write, served, said } = await startWorkers(`redisUrl: '${redis.url}',`)
    await redis.kill()
    await write('new', `redisUrl: '${redis.url}',`)
    gateway.signal('SIGHUP')
    await expect.poll(() => said('reloaded').length, { timeout: 40_000 }).toBe(WORKERS)
    expect(await served()).toEqual(all(pids(), 'new'))
    expect(said('reload failed')).toEqual([])
    expect(said('connection to redis lost').length).toBeGreaterThanOrEqual(WORKERS)
    // The new ones hear of it when it is back.
    await redis.restart()
    await expect
      .poll(() => said('connection to redis restored').length, { timeout: 40_000 })
      .toBeGreaterThanOrEqual(WORKERS)
  })

  it('one that was never reached is a mistake of the config', async () => {
    await using redis = await startRedis()
    const { gateway, pids, write, served, said } = await startWorkers(`redisUrl: '${redis.url}',`)
    await write('new', `redisUrl: 'redis://127.0.0.1:1',`)
    gateway.signal('SIGHUP')
    await gateway.waitForLine(/reload failed/, 40_000)
    expect(await served()).toEqual(all(pids(), 'old'))
    expect(said('reloaded')).toEqual([])
  })
})
