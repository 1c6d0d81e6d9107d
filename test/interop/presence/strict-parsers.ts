import { spawn, execFile } from 'node:child_process'

import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const OWN = fileURLToPath(new URL('.', import.meta.url))

/** A program that reads messages with a library of another make. */
export interface StrictParser {
  /** Has it read this FileDescriptorSet. Throws what it says against it. */
  load(set: Uint8Array): Promise<void>
  /** The message as JSON. Throws what the library says against it. */
  parse(type: string, bytes: Uint8Array): Promise<unknown>
  close(): void
}

export interface StrictParserKind {
  readonly name: string
  /** Builds it in this folder, and starts it. */
  start(folder: string): Promise<StrictParser>
}

export const strictParsers: readonly StrictParserKind[] = [
  {
    name: 'C++',
    async start(folder) {
      const binary = join(folder, 'cpp')
      const libraries = ['-lprotobuf', '-lpthread']
      await run('g++', ['-O1', '-std=c++17', '-o', binary, join(OWN, 'cpp/parser.cc'), ...libraries])
      return startParser(binary)
    },
  },
  {
    name: 'Go',
    async start(folder) {
      const binary = join(folder, 'go')
      // Debian's packages are laid out for the time before modules.
      const env = { GOPATH: '/usr/share/gocode', ...process.env, GO111MODULE: 'off', GOFLAGS: '' }
      await run('go', ['build', '-o', binary, join(OWN, 'go/main.go')], { env })
      return startParser(binary)
    },
  },
]

function startParser(binary: string): StrictParser {
  const child = spawn(binary, { stdio: ['pipe', 'pipe', 'inherit'] })
  const answers: AsyncIterator<string> = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask = async (command: string, type: string, bytes: Uint8Array): Promise<string> => {
    child.stdin.write(`${command} ${type} x${Buffer.from(bytes).toString('hex')}\n`)
    const { value: line, done } = await answers.next()
    if (done) throw new Error(`${binary} has ended`)
    if (line.startsWith('error: ')) throw new Error(line.slice('error: '.length))
    return line
  }
  return {
    async load(set) {
      await ask('set', '-', set)
    },
    parse: async (type, bytes) => JSON.parse(await ask('parse', type, bytes)),
    close: () => void child.stdin.end(),
  }
}
