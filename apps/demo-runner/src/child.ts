import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

export interface ChildOptions {
  /** Stands before each line of its output. */
  readonly name: string
  readonly script: string
  readonly args?: readonly string[]
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>
  /** The line that says it is up; its first group is the address. */
  readonly ready: RegExp
  readonly print: (line: string) => void
}

export interface Child {
  readonly name: string
  /** The address of the ready line. Rejects when the program ends before it. */
  readonly address: Promise<string>
  /** Resolves when the program has ended, however it did. */
  readonly ended: Promise<string>
  /** SIGTERM, and SIGKILL after `graceMs`. */
  stop(graceMs: number): Promise<void>
}

/**
 * Runs a Node program. It gets a process group of its own, so that Ctrl-C in a terminal reaches only this process,
 * which then stops its children once and in order.
 */
export function startChild(options: ChildOptions): Child {
  const { name, script, args = [], env = {}, ready, print } = options
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let running = true

  const ended = new Promise<string>((resolve) => {
    const end = (how: string): void => {
      running = false
      resolve(how)
    }
    child.once('exit', (code, signal) => end(signal ? `was ended by ${signal}` : `exited with code ${code}`))
    child.once('error', (error) => end(`cannot be started: ${error.message}`))
  })
  const address = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        print(`${name} | ${line}`)
        const match = line.match(ready)
        if (match?.[1]) resolve(match[1])
      })
    }
    void ended.then((how) => reject(new Error(`${name} ${how}`)))
  })
  // Nobody may be waiting for it any more when the program ends.
  address.catch(() => {})

  function signal(name: NodeJS.Signals): void {
    if (running && child.pid !== undefined) process.kill(-child.pid, name)
  }

  return {
    name,
    address,
    ended,
    async stop(graceMs) {
      signal('SIGTERM')
      const timer = setTimeout(() => signal('SIGKILL'), graceMs)
      await ended
      clearTimeout(timer)
    },
  }
}
