import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  AUDIENCE,
  type CodeBlock,
  freePort,
  isListening,
  type Issuer,
  type RedisServer,
  spawnProcess,
  startIssuer,
  startRedis,
  waitUntil,
} from '@vinyasa/test-kit'
import { run } from '../../../apps/gateway/src/cli.ts'
import type { CommandContext } from '../../../apps/gateway/src/commands/context.ts'
import { commandsOf, type Command, isElsewhere } from './shell.ts'

/** A page that is being followed: what its blocks left behind. */
export interface Story {
  /** Where its files are. */
  readonly folder: string
  /** Text as a page has it, with the addresses of this run. */
  placed(text: string): string
  /** The same the other way. */
  shown(text: string): string
  write(file: string, text: string): string
  /** Runs the commands of a block; resolves to what they wrote. Those that cannot be run here are told to `onSkip`. */
  shell(block: string, onSkip: (command: string) => void): Promise<string>
  /** Starts the gateway of the config that was written last, in place of the one before. */
  start(args?: readonly string[]): Promise<void>
  /** The endpoint of what is being served. */
  readonly endpoint: string
  readonly isServing: boolean
  readonly environment: Record<string, string>
  /** A config was written: what it speaks of is started, and the gateway of the one before is stopped. */
  configured(text: string): Promise<void>
  /** Something else serves the endpoint from now on. */
  serves(): void
  [Symbol.asyncDispose](): Promise<void>
}

const HERE = fileURLToPath(new URL('..', import.meta.url))

/** A story in a folder of its own, with the backends of the first page. */
export async function startStory(backends: readonly CodeBlock[]): Promise<Story> {
  const folder = mkdtempSync(join(HERE, '.page-'))
  const ports = new Map<string, number>()
  for (const port of ['4000', '4010', '50051']) ports.set(port, await freePort())
  const ends: (() => Promise<unknown>)[] = []
  const servers: { issuer?: Issuer; redis?: RedisServer } = {}
  const environment: Record<string, string> = {}
  let gateway: { stop(): Promise<void> } | undefined
  let isServing = false
  let directory = folder

  const placed = (text: string): string => {
    let out = text
    for (const [port, own] of ports)
      out = out.replaceAll(
        new RegExp(`(?<=localhost:|127\\.0\\.0\\.1:|listen\\()${port}\\b`, 'g'),
        String(own),
      )
    if (servers.issuer) out = out.replaceAll('https://id.example/realms/shop', servers.issuer.url)
    if (servers.issuer) out = out.replaceAll('shop-api', AUDIENCE)
    if (servers.redis) out = out.replaceAll('redis://localhost:6379', servers.redis.url)
    return out
  }

  /** Starts what a text speaks of, once. */
  async function prepare(text: string): Promise<void> {
    if (text.includes('https://id.example') && !servers.issuer) {
      const issuer = await startIssuer()
      servers.issuer = issuer
      environment['TOKEN'] = issuer.token({
        claims: { scope: 'prices:write', realm_access: { roles: ['staff'] } },
      })
      ends.push(() => issuer[Symbol.asyncDispose]())
    }
    if (text.includes('redis://localhost:6379') && !servers.redis) {
      const redis = await startRedis()
      servers.redis = redis
      ends.push(() => redis[Symbol.asyncDispose]())
    }
    if (text.includes('localhost:4010')) await startBackend('shop.mjs', '4010')
    if (text.includes('localhost:50051')) await startBackend('users.mjs', '50051')
  }

  async function startBackend(file: string, port: string): Promise<void> {
    if (await isListening(ports.get(port) ?? 0)) return
    const backend = await spawnProcess({
      command: process.execPath,
      args: [file],
      cwd: folder,
      ready: /listens on/,
    })
    ends.push(() => backend[Symbol.asyncDispose]())
  }

  async function startBackends(): Promise<void> {
    await startBackend('shop.mjs', '4010')
    await startBackend('users.mjs', '50051')
  }

  function write(file: string, text: string): string {
    const at = resolve(directory, file)
    mkdirSync(dirname(at), { recursive: true })
    writeFileSync(at, placed(text))
    return at
  }

  async function start(args: readonly string[] = []): Promise<void> {
    await gateway?.stop()
    gateway = undefined
    await startBackends()
    const port = ports.get('4000') ?? 0
    const shutdown = new AbortController()
    const context = contextOf(shutdown.signal)
    const ended = run(['start', '--port', String(port), ...args], context)
    const listens = waitUntil(() => isListening(port), { awaited: 'the gateway', timeoutMs: 60_000 })
    const code = await Promise.race([ended, listens.then(() => undefined)])
    if (code !== undefined) throw new Error(`start ended with ${code}: ${context.out.join('\n')}`)
    isServing = true
    gateway = {
      async stop() {
        shutdown.abort()
        await ended
        isServing = false
      },
    }
  }

  function contextOf(shutdown: AbortSignal): CommandContext & { readonly out: string[] } {
    const out: string[] = []
    const print = (text: string): void => void out.push(text)
    const reload = new EventTarget()
    return { directory, environment, shutdown, reload, print, printError: print, out }
  }

  async function runCommand(command: Command): Promise<string> {
    const [, assigned, inner = ''] = /^(?:export )?(\w+)=\$\((.*)\)$/.exec(command.text) ?? []
    if (assigned !== undefined) {
      environment[assigned] = (await runShell(inner)).trim()
      return ''
    }
    const [name = '', ...args] = command.words
    const into = args.at(-2) === '>' ? args.at(-1) : undefined
    const words = into === undefined ? command.words : command.words.slice(0, -2)
    const isVinyasa = /^(npx (-p @vinyasa\/gateway )?)?vinyasa( |$)/.test(words.join(' '))
    const vinyasa = isVinyasa ? words.slice(words.indexOf('vinyasa') + 1).map(placed) : undefined
    Object.assign(environment, command.environment)
    if (vinyasa?.[0] === 'start') {
      await start(
        vinyasa.slice(1).filter((arg, index, all) => arg !== '--port' && all[index - 1] !== '--port'),
      )
      return ''
    }
    if (vinyasa) {
      if (vinyasa[0] === 'check') await startBackends()
      const context = contextOf(new AbortController().signal)
      const code = await run(vinyasa, context)
      if (code !== 0) throw new Error(`${command.text} ended with ${code}: ${context.out.join('\n')}`)
      const out = context.out.join('\n')
      if (into !== undefined) write(into, out)
      return into === undefined ? out : ''
    }
    if (name === 'cd') directory = resolve(directory, args[0] ?? '')
    if (name === 'node') {
      await startBackend(args[0] ?? '', args[0] === 'shop.mjs' ? '4010' : '50051')
      return ''
    }
    if (/^(mkdir|cd)$/.test(name)) {
      if (name === 'mkdir') mkdirSync(resolve(directory, args[0] ?? ''), { recursive: true })
      return ''
    }
    if (!/^(curl|rm|export|printf)$/.test(name))
      throw new Error(`${command.text}: not known how to run this, nor that it cannot be run here`)
    const [variable = '', value = ''] = name === 'export' ? (args[0] ?? '').split('=') : []
    if (variable !== '') environment[variable] = value
    if (name === 'curl' && !isServing) await start()
    return runShell(command.text)
  }

  /** A stream goes on for ever: what comes in two seconds will do. */
  async function runShell(text: string): Promise<string> {
    const line = placed(text)
      .replace(/^curl -N/, 'curl -sS -N --max-time 2')
      .replace(/^curl (?!-sS)/, 'curl -sS ')
    const ran = promisify(execFile)('bash', ['-c', line], {
      cwd: directory,
      env: { ...process.env, ...environment },
    })
    const { stdout } = await ran.catch((error: { code: number; stdout: string; stderr: string }) => {
      if (error.code === 28 && error.stdout !== '') return error
      throw new Error(`${text}: ${error.stderr}${error.stdout}`)
    })
    return stdout
  }

  for (const { file = '', code } of backends) write(file, code)
  return {
    folder,
    environment,
    placed,
    shown: (text) => [...ports].reduce((out, [port, own]) => out.replaceAll(String(own), port), text),
    write,
    start,
    async configured(text) {
      await prepare(text)
      await gateway?.stop()
      gateway = undefined
    },
    serves: () => void (isServing = true),
    get isServing() {
      return isServing
    },
    get endpoint() {
      return `http://localhost:${ports.get('4000')}/graphql`
    },
    async shell(block, onSkip) {
      let out = ''
      for (const command of commandsOf(block)) {
        await prepare(command.text)
        if (isElsewhere(command)) onSkip(command.text)
        else out = await runCommand(command)
      }
      return out
    },
    async [Symbol.asyncDispose]() {
      await gateway?.stop()
      for (const end of ends.toReversed()) await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
