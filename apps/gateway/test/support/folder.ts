import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@vinyasa/core'
import { freePort } from '@vinyasa/test-kit'
import { expect, onTestFinished, vi } from 'vitest'
import { run } from '../../src/cli.ts'
import type { CommandContext } from '../../src/commands/context.ts'

export interface Folder {
  readonly directory: string
  /** Variables that its commands are run with. */
  readonly environment: Record<string, string>
  readonly out: string[]
  readonly err: string[]
  command(...args: string[]): Promise<number>
  /** Runs `start` until the test ends; resolves to the endpoint once it is ready. */
  start(readinessPath?: string): Promise<string>
}

/** An empty folder to run commands in, until the test ends; `answers` are what its user says when asked. */
export async function emptyFolder(answers: string[] = []): Promise<Folder> {
  const directory = await mkdtemp(join(tmpdir(), 'vinyasa-init-'))
  // Callbacks run in reverse order: a server that `start` has started ends first.
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }))
  const out: string[] = []
  const err: string[] = []
  const environment: Record<string, string> = {}
  const shutdown = new AbortController()
  const context: CommandContext = {
    directory,
    environment,
    shutdown: shutdown.signal,
    reload: new EventTarget(),
    ask: async () => answers.shift() ?? '',
    print: (text) => out.push(text),
    printError: (text) => err.push(text),
  }
  return {
    directory,
    environment,
    out,
    err,
    command: (...args) => run(args, context),
    async start(readinessPath = '/health/ready') {
      const port = await freePort()
      const ended = run(['start', '--port', String(port)], context)
      onTestFinished(async () => {
        // The last request was long ago: a server goes on for a second after it.
        const later = systemClock.now() + 10_000
        const clock = vi.spyOn(systemClock, 'now').mockReturnValue(later)
        shutdown.abort()
        await ended
        clock.mockRestore()
      })
      const base = `http://127.0.0.1:${port}`
      const ready = async (): Promise<number> =>
        (await fetch(base + readinessPath).catch(() => undefined))?.status ?? 0
      await expect.poll(ready, { timeout: 15_000 }).toBe(200)
      return `${base}/graphql`
    },
  }
}
