import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a program tells the benchmark once it listens. */
export interface ProgramReady {
  readonly url: string
  readonly versions: Readonly<Record<string, string>>
}

/** What a program answers whenever it is asked. */
export interface ProgramUsage {
  readonly cpuMicros: number
  readonly rssBytes: number
}

function ownUsage(): ProgramUsage {
  const { user, system } = process.cpuUsage()
  return { cpuMicros: user + system, rssBytes: process.memoryUsage.rss() }
}

/**
 * Tells the benchmark that this program is up, answers its questions, and ends when the benchmark does. Where the program
 * is another one's parent, `usage` is what that other one has used.
 */
export function announceProgram(
  url: string,
  versions: Readonly<Record<string, string>> = {},
  usage: () => ProgramUsage = ownUsage,
): void {
  if (!process.send) {
    console.log(`listening on ${url}`)
    return
  }
  process.on('message', () => process.send?.(usage()))
  process.on('disconnect', () => process.exit(0))
  process.send({ url, versions } satisfies ProgramReady)
}

/** Listens on a free port of loopback and announces it. */
export function serveProgram(server: Server, versions: Readonly<Record<string, string>> = {}): void {
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    announceProgram(`http://127.0.0.1:${port}`, versions)
  })
}
