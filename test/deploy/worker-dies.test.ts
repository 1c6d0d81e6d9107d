import { describeWithRedis, spawnProcess, startRedis } from '@vinyasa/test-kit'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

// The built program, as users run it: `pnpm test` builds it first.
const MAIN = fileURLToPath(new URL('../../apps/gateway/dist/main.js', import.meta.url))
const PATIENCE = { timeout: 40_000 }

describeWithRedis('while Redis is away', () => {
  it('a worker that dies is replaced by one that serves, without Redis, and hears of it when it is back', async () => {
    await using redis = await startRedis()
    const folder = await mkdtemp(join(tmpdir(), 'vinyasa-dies-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const file = join(folder, 'gateway.config.ts')
    await writeFile(
      file,
      `let count = 0
       export default {
         log: { format: 'json' },
         server: { port: 0 },
         redisUrl: '${redis.url}',
         responseCache: { defaultTtlMs: 60_000 },
         typeDefs: 'type Query { who: Int!, count: Int! }',
         resolvers: { Query: { who: () => process.pid, count: () => ++count } },
         dependencies: { 'Query.who': { variesBy: [] }, 'Query.count': { variesBy: [] } },
       }`,
    )
    const gateway = await spawnProcess({
      command: process.execPath,
      args: [MAIN, 'start', '--config', file, '--workers', '2'],
      ready: /"url":"(http:[^"]+)\/graphql".*"msg":"gateway ready"/,
    })
    onTestFinished(() => gateway[Symbol.asyncDispose]())
    const said = (message: string) =>
      gateway.lines
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as { msg: string; pid: number })
        .filter(({ msg }) => msg.startsWith(message))
    const ask = async (): Promise<{ readonly data?: { readonly who: number } }> => {
      const response = await fetch(`${gateway.ready?.[1]}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: '{"query":"{ who count }"}',
      })
      return (await response.json()) as { readonly data?: { readonly who: number } }
    }
    await expect.poll(() => said('gateway ready').length, PATIENCE).toBe(2)
    const [first, second] = said('gateway ready').map(({ pid }) => pid)
    await redis.kill()
    process.kill(first!, 'SIGKILL')
    let answers = 0
    const isReplaced = async (): Promise<number> => {
      // Who is left serves all the while.
      expect((await ask()).data?.who).toEqual(expect.any(Number))
      answers++
      return said('gateway ready').length
    }
    await expect.poll(isReplaced, PATIENCE).toBe(3)
    expect(answers).toBeGreaterThan(0)
    const third = said('gateway ready')[2]!.pid
    const served = async (): Promise<readonly number[]> => {
      const pids = new Set<number>()
      for (let turn = 0; turn < 6; turn++) pids.add((await ask()).data!.who)
      return [...pids].sort()
    }
    await expect.poll(served, PATIENCE).toEqual([second!, third].sort())
    expect(said('worker').length).toBe(1)
    await redis.restart()
    const back = (): readonly number[] =>
      [...new Set(said('connection to redis restored').map(({ pid }) => pid))].sort()
    await expect.poll(back, PATIENCE).toEqual([second!, third].sort())
  })
})
