import { describe, expect, it, onTestFinished } from 'vitest'
import { createDisposables, spawnProcess, waitUntil } from '../src/index.ts'

const run = (script: string, options: Partial<Parameters<typeof spawnProcess>[0]> = {}) =>
  spawnProcess({ command: process.execPath, args: ['-e', script], ...options })

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('spawnProcess', () => {
  it('waits for the ready line, keeps what is written, ends the program on disposal', async () => {
    const disposables = createDisposables(onTestFinished)
    const program = disposables.use(
      await run(
        `console.log('listening on http://127.0.0.1:' + process.env.NUMBER); console.error('warned'); setInterval(() => {}, 1e6)`,
        {
          ready: /listening on (\S+)/,
          env: { NUMBER: '81' },
        },
      ),
    )
    expect(program.ready?.[1]).toBe('http://127.0.0.1:81')
    expect((await program.waitForLine(/warn(ed)/))[1]).toBe('ed')
    await disposables.dispose()
    expect([program.isRunning(), isAlive(program.pid)]).toEqual([false, false])
  })

  it('tells what a program wrote that ended before it was ready', async () => {
    await expect(run(`console.error('port taken'); process.exit(3)`, { ready: /up/ })).rejects.toThrow(
      /ended before it was ready \(code 3[^]*port taken/,
    )
    await expect(spawnProcess({ command: 'no-such-program-here' })).rejects.toThrow('Cannot start')
  })

  it('ends a program that ignores SIGTERM', async () => {
    const program = await run(
      `process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1e6)`,
      {
        ready: /up/,
      },
    )
    await expect(program.kill('SIGTERM', 100)).rejects.toThrow('after SIGTERM')
    expect(await program.kill('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' })
  })

  it('signals a whole group, as Ctrl-C in a terminal does', async () => {
    const child = `console.log('pid', process.pid); setInterval(() => {}, 1e6)`
    const program = createDisposables(onTestFinished).use(
      await run(
        `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: 'inherit' })`,
        {
          group: true,
          ready: /pid (\d+)/,
        },
      ),
    )
    program.signalGroup('SIGINT')
    await program.exited
    const grandchild = Number(program.ready![1])
    await waitUntil(() => !isAlive(grandchild))
    expect(isAlive(program.pid)).toBe(false)
  })
})
