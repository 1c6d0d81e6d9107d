import { fork } from 'node:child_process'
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ProgramReady, ProgramUsage } from './serve-program.ts'
import type { BenchRequest, Program } from './types.ts'

export interface RunningProgram extends ProgramReady {
  readonly name: string
  readonly pid: number
  readonly request: BenchRequest | undefined
  usage(): Promise<ProgramUsage>
  stop(): Promise<void>
}

/** Starts a program in a process of its own and waits until it listens. */
export async function startProgram(
  program: Program,
  env: Readonly<Record<string, string>> = {},
  readyTimeoutMs = 60_000,
): Promise<RunningProgram> {
  const output = program.writesToFile ? await openOutput() : undefined
  const child = fork(fileURLToPath(program.file), {
    execArgv: program.file.pathname.endsWith('.ts') ? ['--import', 'jiti/register'] : [],
    env: { ...process.env, NODE_ENV: 'production', ...program.env, ...env },
    stdio: ['ignore', output?.file.fd ?? 'pipe', 'pipe', 'ipc'],
  })
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      said.push(chunk.toString())
      if (said.length > 50) said.shift()
    })
  }
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))

  function nextMessage<T>(timeoutMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const fail = (why: string): void => {
        settle()
        reject(new Error(`${program.name} ${why}. It wrote:\n${said.join('')}`))
      }
      const onMessage = (message: unknown): void => {
        settle()
        resolve(message as T)
      }
      const onExit = (code: number | null): void => fail(`ended (code ${code})`)
      const timer = setTimeout(() => fail(`said nothing for ${timeoutMs} ms`), timeoutMs)
      const settle = (): void => {
        clearTimeout(timer)
        child.off('message', onMessage)
        child.off('exit', onExit)
      }
      child.once('message', onMessage)
      child.once('exit', onExit)
    })
  }

  async function stop(): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await exited
    await output?.close()
  }

  try {
    const ready = await nextMessage<ProgramReady>(readyTimeoutMs)
    return {
      ...ready,
      name: program.name,
      request: program.request,
      pid: child.pid as number,
      usage: () => {
        const answer = nextMessage<ProgramUsage>(10_000)
        child.send('usage')
        return answer
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function openOutput(): Promise<{ readonly file: FileHandle; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'vinyasa-bench-output-'))
  const file = await open(join(folder, 'output'), 'a')
  return {
    file,
    async close() {
      await file.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
