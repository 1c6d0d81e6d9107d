import { readdirSync, readFileSync } from 'node:fs'
import { examples } from '@vinyasa/demo-runner/examples'
import { createDisposables, requestMultipart, spawnProcess, waitUntil } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postGraphQL, repository } from '../e2e/support/demo.ts'

const MAIN = repository('apps/demo-runner/dist/main.js')

const start = (
  env: Record<string, string> = {},
  [command = process.execPath, ...args]: readonly string[] = [process.execPath, MAIN],
) =>
  spawnProcess({
    command,
    args,
    env: { PORT: '0', USERS_PORT: '0', SHOP_PORT: '0', ...env },
    ready: /GraphQL\s+(http:\S+)\/graphql/,
    group: true,
  })

/** The processes that `pid` has started, as Linux lists them. */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(pid)
      } catch {
        return false
      }
    })
    .map(Number)
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('the demo in one command', () => {
  it('shows what it serves from where, and its examples work', async () => {
    const demo = createDisposables(onTestFinished).use(await start())
    const url = `${demo.ready![1]}/graphql`
    await demo.waitForLine(/Ctrl-C stops all of it/)
    for (const line of [
      /from gRPC\s+demo\.users\.v1\.UserService\s+127\.0\.0\.1:\d+/,
      /from REST\s+http:\S+/,
    ]) {
      expect(demo.output()).toMatch(line)
    }

    const both = await postGraphQL(url, examples.both.query)
    expect(both.errors).toEqual([])
    expect(both.data.users.users).toHaveLength(3)
    expect(both.data.getProduct.name).toBe('Sturdy Kettle')

    expect(demo.output()).toContain(JSON.stringify({ query: examples.defer.query }))
    const deferred = await requestMultipart(url, { body: { query: examples.defer.query } })
    const parts = await deferred.allParts()
    expect(parts[0]!.json()).toEqual({ data: { user: { name: 'Ada Ahlberg' } }, hasNext: true })
    expect(parts[1]!.json().incremental[0].data.profile.bio).toContain('likes climbing')
    expect(parts[1]!.at - parts[0]!.at).toBeGreaterThan(150)
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('%s to the group leaves no process behind', async (signal) => {
    const demo = createDisposables(onTestFinished).use(await start())
    const children = childrenOf(demo.pid)
    expect(children).toHaveLength(3)
    demo.signalGroup(signal)
    expect(await demo.exited).toEqual({ code: 0, signal: null })
    expect(children.filter(isAlive)).toEqual([])
  })

  it('stops when the shell of `pnpm start` is ended', async () => {
    const shell = createDisposables(onTestFinished).use(
      await start({ npm_lifecycle_event: 'start' }, ['sh', '-c', `"${process.execPath}" "${MAIN}"; exit`]),
    )
    const [runner = 0] = childrenOf(shell.pid)
    const processes = [runner, ...childrenOf(runner)]
    expect(processes).toHaveLength(4)
    process.kill(shell.pid, 'SIGTERM')
    await waitUntil(() => !processes.some(isAlive), { timeoutMs: 10_000 })
  })

  it('stops at once when it is interrupted while starting', async () => {
    const demo = createDisposables(onTestFinished).use(
      await spawnProcess({
        command: process.execPath,
        args: [repository('apps/demo-runner/dist/main.js')],
        env: { PORT: '0', USERS_PORT: '0', SHOP_PORT: '0' },
        ready: /demo-(users|shop) ready/,
        group: true,
      }),
    )
    const children = childrenOf(demo.pid)
    demo.signalGroup('SIGINT')
    expect(await demo.exited).toEqual({ code: 0, signal: null })
    expect(children.filter(isAlive)).toEqual([])
  })

  it('a program that ends takes the others with it, and the reason is told', async () => {
    const demo = createDisposables(onTestFinished).use(await start())
    const children = childrenOf(demo.pid)
    process.kill(children[1]!, 'SIGKILL')
    expect(await demo.exited).toEqual({ code: 1, signal: null })
    expect(demo.output()).toMatch(/The demo stops: \w+ was ended by SIGKILL/)
    await waitUntil(() => children.every((pid) => !isAlive(pid)))
  })

  it('says which port is taken', async () => {
    const first = createDisposables(onTestFinished).use(await start())
    const port = first.output().match(/demo-shop ready: http:\/\/127\.0\.0\.1:(\d+)/)![1]!
    await expect(start({ SHOP_PORT: port })).rejects.toThrow(
      new RegExp(`demo-shop cannot listen on 127\\.0\\.0\\.1:${port}[^]*The demo stops`),
    )
  })
})
