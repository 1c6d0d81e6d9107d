import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { waitUntil, withTimeout } from './wait.ts'

export interface SpawnOptions {
  readonly command: string
  readonly args?: readonly string[]
  readonly cwd?: string
  /** Added to this process's environment; `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The line that says the program is up. Without it the program counts as ready at once. */
  readonly ready?: RegExp
  /** Default 30,000. */
  readonly readyTimeoutMs?: number
  /** Starts a process group, so that `killGroup` reaches the grandchildren as a terminal's Ctrl-C does. Default false. */
  readonly group?: boolean
}

export interface ProcessExit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface SpawnedProcess {
  readonly pid: number
  /** The match of `ready`, with its groups. */
  readonly ready: RegExpMatchArray | undefined
  /** Lines of stdout and stderr so far, in order of arrival. */
  readonly lines: readonly string[]
  readonly exited: Promise<ProcessExit>
  output(): string
  /** The first line, past or future, that matches. Default timeout 10,000. */
  waitForLine(pattern: RegExp, timeoutMs?: number): Promise<RegExpMatchArray>
  isRunning(): boolean
  /** Sends a signal (default SIGTERM) and waits for the end. Default timeout 10,000. */
  kill(signal?: NodeJS.Signals, timeoutMs?: number): Promise<ProcessExit>
  /** Sends a signal and returns at once. */
  signal(signal: NodeJS.Signals): void
  /** The signal goes to the whole process group. */
  signalGroup(signal: NodeJS.Signals): void
  /** Freezes the program where it stands: connections stay open, nothing answers. */
  stop(): void
  /** Lets a frozen program go on. */
  cont(): void
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts a program and waits until it says it is ready. Ends it, by its pid, on disposal and when this process exits. */
export async function spawnProcess(options: SpawnOptions): Promise<SpawnedProcess> {
  const { command, args = [], cwd, env = {}, ready, readyTimeoutMs = 30_000, group = false } = options
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    detached: group,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line))
  }
  let running = true
  const endWithParent = (): void => send('SIGKILL')
  process.once('exit', endWithParent)
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => {
      running = false
      process.off('exit', endWithParent)
      resolve({ code, signal })
    })
    child.once('error', () => {
      running = false
      process.off('exit', endWithParent)
      resolve({ code: null, signal: null })
    })
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (error) => reject(new Error(`Cannot start ${command}: ${error.message}`)))
  })
  const pid = child.pid as number

  function send(signal: NodeJS.Signals): void {
    if (running && child.pid !== undefined) process.kill(group ? -child.pid : child.pid, signal)
  }

  const spawned: Omit<SpawnedProcess, 'ready'> = {
    pid,
    lines,
    exited,
    output: () => lines.join('\n'),
    isRunning: () => running,
    async waitForLine(pattern, timeoutMs = 30_000) {
      return waitUntil(
        () => {
          for (const line of lines) {
            const match = line.match(pattern)
            if (match) return match
          }
          if (!running) throw new Error(`${command} has ended`)
          return undefined
        },
        { timeoutMs, awaited: `a line matching ${pattern} from ${command}` },
      )
    },
    async kill(signal = 'SIGTERM', timeoutMs = 10_000) {
      if (running) process.kill(pid, signal)
      return withTimeout(exited, timeoutMs, `end of ${command} (pid ${pid}) after ${signal}`)
    },
    signal: (signal) => {
      if (running) process.kill(pid, signal)
    },
    signalGroup: (signal) => send(signal),
    stop() {
      process.kill(pid, 'SIGSTOP')
      awaitStop(pid)
    },
    cont: () => void process.kill(pid, 'SIGCONT'),
    async [Symbol.asyncDispose]() {
      if (!running) return
      // Who waits for requests at the first signal does not at the second.
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGCONT'] as const) send(signal)
      await withTimeout(exited, 5_000, 'end').catch(() => {
        send('SIGKILL')
        return exited
      })
    },
  }

  if (!ready) return { ...spawned, ready: undefined }
  try {
    const match = await Promise.race([
      spawned.waitForLine(ready, readyTimeoutMs),
      exited.then(async ({ code, signal }) => {
        await new Promise((resolve) => setTimeout(resolve, 50))
        throw new Error(`${command} ended before it was ready (code ${code}, signal ${signal})`)
      }),
    ])
    return { ...spawned, ready: match }
  } catch (error) {
    send('SIGKILL')
    throw new Error(`${(error as Error).message}. It wrote:\n${lines.join('\n')}`, { cause: error })
  }
}

/**
 * Each thread stops when it runs next: until then it may answer what is sent right behind the signal. Where there is no
 * `/proc`, nobody can tell.
 */
function awaitStop(pid: number): void {
  const threads = `/proc/${pid}/task`
  const isStopped = (thread: string): boolean =>
    /^.*\) T /s.test(readFileSync(`${threads}/${thread}/stat`, 'utf8'))
  const until = performance.now() + 1_000
  try {
    while (performance.now() < until) if (readdirSync(threads).every(isStopped)) return
  } catch {
    // It has ended, or this is no Linux.
  }
}
