import { createServer, type AddressInfo } from 'node:net'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  createDisposables,
  spawnProcess,
  startRestBackend,
  waitUntil,
  type RestBackend,
  type SpawnedProcess,
  temporaryFolder,
} from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'

// The built program, as users run it: `pnpm test` builds it first.
const MAIN = fileURLToPath(new URL('../../apps/gateway/dist/main.js', import.meta.url))
const READY = /"url":"(http:[^"]+)\/graphql".*"msg":"gateway ready"/

async function startBackend(): Promise<RestBackend> {
  const backend = await startRestBackend(({ rawUrl }) => ({ json: rawUrl }))
  onTestFinished(() => backend.stop())
  return backend
}

function config(backend: RestBackend, path: string): string {
  return JSON.stringify({
    log: { format: 'json' },
    server: { port: 0 },
    rest: { shop: { baseUrl: backend.url, endpoints: [{ name: 'item', path }] } },
  })
}

async function configFile(config: object, onEnd?: (remove: () => Promise<void>) => void): Promise<string> {
  const file = join(await temporaryFolder('process', onEnd), 'gateway.config.json')
  await writeFile(file, JSON.stringify(config))
  return file
}

async function startGateway(
  text: string,
  ...flags: string[]
): Promise<{ file: string; gateway: SpawnedProcess; url: string }> {
  const name = text.startsWith('{') ? 'gateway.config.json' : 'gateway.config.mjs'
  const file = join(await temporaryFolder('process'), name)
  await writeFile(file, text)
  const gateway = await spawnProcess({
    command: process.execPath,
    args: [MAIN, 'start', '--config', file, ...flags],
    ready: READY,
  })
  onTestFinished(() => gateway[Symbol.asyncDispose]())
  return { file, gateway, url: `${gateway.ready?.[1]}/graphql` }
}

async function item(url: string): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"query":"{ item }"}',
  })
  const { data } = (await response.json()) as { data?: { item: unknown } }
  return data?.item
}

it('SIGHUP: a changed config is served without a restart; a broken one keeps the old and says why', async () => {
  const backend = await startBackend()
  const { file, gateway, url } = await startGateway(config(backend, '/old'))
  expect(await item(url)).toBe('/old')

  await writeFile(file, config(backend, '/new'))
  gateway.signal('SIGHUP')
  await gateway.waitForLine(/"msg":"reloaded"/, 40_000)
  expect(await item(url)).toBe('/new')

  await writeFile(file, '{ "sever": {} }')
  gateway.signal('SIGHUP')
  const [line] = await gateway.waitForLine(/.*reload failed.*/, 40_000)
  expect(line).toContain('sever: unknown setting; did you mean server?')
  expect(await item(url)).toBe('/new')
})

it('--watch: saving the config is enough', async () => {
  const backend = await startBackend()
  const { file, gateway, url } = await startGateway(config(backend, '/old'), '--watch')
  await writeFile(file, config(backend, '/saved'))
  await gateway.waitForLine(/"msg":"reloaded"/, 40_000)
  expect(await item(url)).toBe('/saved')
})

it('50 reloads under load, 10 of them broken: no request fails', async () => {
  const backend = await startBackend()
  const { file, gateway, url } = await startGateway(config(backend, '/0'))
  const stop = new AbortController()
  let requests = 0
  const failures: unknown[] = []
  const load = Array.from({ length: 4 }, async () => {
    while (!stop.signal.aborted) {
      requests++
      const value = await item(url).catch((error: unknown) => error)
      if (typeof value !== 'string') failures.push(value)
    }
  })
  const reloads = (): number =>
    gateway.lines.filter((line) => /"msg":"(reloaded|reload failed)/.test(line)).length
  for (let round = 1; round <= 50; round++) {
    await writeFile(file, round % 5 === 0 ? '{ "broken": 1 }' : config(backend, `/${round}`))
    gateway.signal('SIGHUP')
    await expect.poll(reloads, { timeout: 40_000, interval: 5 }).toBe(round)
  }
  stop.abort()
  await Promise.all(load)
  expect(failures).toEqual([])
  expect(requests).toBeGreaterThan(100)
  expect(await item(url)).toBe('/49')
}, 120_000)

it.each(['npm start', 'npm run first', 'npx -c "$START"'])(
  'SIGTERM to %s: what is under way is answered, and no process is left',
  async (launcher) => {
    let answer: (() => void) | undefined
    const backend = await startRestBackend(
      () => new Promise((resolve) => (answer = () => resolve({ json: 'answered' }))),
    )
    onTestFinished(() => backend.stop())
    const folder = await temporaryFolder('launcher')
    await writeFile(join(folder, 'gateway.config.json'), config(backend, '/'))
    const start = `"${process.execPath}" "${MAIN}" start`
    const scripts = { start, first: `echo first && ${start}` }
    await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, scripts }))
    const started = await spawnProcess({
      command: 'sh',
      args: ['-c', `exec ${launcher}`],
      cwd: folder,
      env: { START: start },
      ready: /\{.*"msg":"gateway ready".*\}/,
      group: true,
    })
    onTestFinished(() => started[Symbol.asyncDispose]())
    const { url, pid } = JSON.parse(started.ready?.[0] ?? '') as {
      readonly url: string
      readonly pid: number
    }
    const asked = item(url)
    await waitUntil(() => answer !== undefined)
    started.signal('SIGTERM')
    await started.waitForLine(/"msg":"stopping/).catch(() => {
      throw new Error(`the gateway goes on: ${started.output()}`)
    })
    answer?.()
    expect(await asked).toBe('answered')
    await waitUntil(() => !isAlive(pid))
  },
)

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

it('SIGTERM when idle: exits with 0, and what it printed ends with `stopped`', async () => {
  const backend = await startBackend()
  const { gateway, url } = await startGateway(config(backend, '/x'))
  await item(url)
  const startedAt = performance.now()
  expect(await gateway.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  // Whoever waits for something that never ends waits for `graceMs`, 30 s.
  expect(performance.now() - startedAt).toBeLessThan(10_000)
  expect(gateway.lines.at(-1)).toContain('"msg":"stopped"')
})

// graphql-js and Yoga's executor forget the promises of a list's items when a later item fails at once.
it('a rejection that nobody hears is logged, and the process goes on', async () => {
  const { gateway, url } = await startGateway(`export default {
    log: { format: 'json' },
    server: { port: 0 },
    typeDefs: 'type Query { item: [Item!] } type Item { late: String! n: Int! }',
    resolvers: {
      Query: { item: () => [{ n: 1, late: () => new Promise((_, no) => setTimeout(no, 10, new Error('late'))) }, { n: 'x' }] },
    },
  }`)
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"query":"{ item { late n } }"}',
  })
  expect(await response.json()).toMatchObject({ data: { item: null } })
  const [line] = await gateway.waitForLine(/.*unhandled rejection.*/, 40_000)
  expect(JSON.parse(line)).toMatchObject({ level: 50, err: { message: 'late' } })
  expect((await fetch(new URL('/health/live', url))).ok).toBe(true)
})

it('--workers 2: both processes serve, one that dies or is stopped is replaced, SIGTERM ends all', async () => {
  const backend = await startBackend()
  const { gateway, url } = await startGateway(config(backend, '/x'), '--workers', '2')
  const pids = (): Set<string> =>
    new Set(gateway.lines.flatMap((line) => line.match(/"pid":(\d+).*gateway ready/)?.[1] ?? []))
  await expect.poll(() => pids().size, { timeout: 40_000 }).toBe(2)
  expect(await item(url)).toBe('/x')
  const [first] = pids()
  process.kill(Number(first), 'SIGKILL')
  await expect.poll(() => pids().size, { timeout: 40_000 }).toBe(3)
  expect(await item(url)).toBe('/x')
  const stopped = [...pids()].at(-1)!
  process.kill(Number(stopped), 'SIGSTOP')
  await gateway.waitForLine(new RegExp(`"worker":${stopped},.*"msg":"worker is killed`), 20_000)
  await expect.poll(() => pids().size, { timeout: 40_000 }).toBe(4)
  expect(await item(url)).toBe('/x')
  const line = await gateway.waitForLine(
    new RegExp(`"worker":${first},.*"signal":"SIGKILL".*"msg":"worker was ended by the signal SIGKILL`),
  )
  expect(line).toBeDefined()
  // Whoever reads the log reads lines of JSON, those of the first process too.
  for (const one of gateway.lines) expect(() => JSON.parse(one)).not.toThrow()
  expect(await gateway.kill('SIGTERM')).toEqual({ code: 0, signal: null })
  for (const pid of pids()) expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH')
}, 60_000)

describe('a command loads nothing that it does not use', () => {
  const REPORT = `import { createRequire } from 'node:module'
    process.once('exit', () => console.log('loaded ' + JSON.stringify(Object.keys(createRequire('/').cache))))`

  /** The CommonJS files that a process has loaded when it ends: most packages have some. */
  async function loadedBy(code: number, ...args: readonly string[]): Promise<string> {
    const program = await spawnProcess({
      command: process.execPath,
      args: ['--import', `data:text/javascript,${encodeURIComponent(REPORT)}`, MAIN, ...args],
    })
    expect(await program.exited).toMatchObject({ code })
    return program.lines.find((line) => line.startsWith('loaded ')) ?? ''
  }

  it('--version, --help and a config that cannot be used do not load the gateway', async () => {
    expect(await loadedBy(0, '--version')).not.toContain('/graphql/')
    expect(await loadedBy(0, 'start', '--help')).not.toContain('/graphql/')
    expect(await loadedBy(1, 'start', '--config', await configFile({ sever: {} }))).not.toContain('/graphql/')
    expect(await loadedBy(1, 'check', '--config', await configFile({ sever: {} }))).not.toContain('/graphql/')
  })

  it('Redis, OpenTelemetry, grpc-js, all of undici, a breaker, YAML, TypeScript and GraphiQL wait until they are used', async () => {
    const protoFiles = [
      fileURLToPath(new URL('../../apps/demo-users/proto/demo/users/v1/users.proto', import.meta.url)),
    ]
    const file = await configFile({
      grpc: { users: { endpoint: '127.0.0.1:1', protoFiles } },
      rest: { shop: { baseUrl: 'http://127.0.0.1:1', endpoints: [{ name: 'item', path: '/item' }] } },
    })
    const loaded = await loadedBy(0, 'print-schema', '--config', file)
    expect(loaded).toContain('/graphql/index.js')
    expect(loaded).toContain('/undici/lib/dispatcher/pool.js')
    const unused = [
      'ioredis',
      '@opentelemetry/core',
      '@grpc/grpc-js',
      'undici/index.js',
      'cockatiel',
      'yaml',
      'jiti',
    ]
    expect(unused.filter((name) => loaded.includes(`/node_modules/${name}`))).toEqual([])
  })

  it('a TypeScript config is compiled outside of the thread that serves', async () => {
    const folder = await temporaryFolder('process')
    const file = join(folder, 'gateway.config.ts')
    await mkdir(join(folder, 'node_modules'))
    await writeFile(
      file,
      "const field: string = 'a'\nexport default { typeDefs: `type Query { ${field}: Int }` }\n",
    )
    const loaded = await loadedBy(0, 'print-schema', '--config', file)
    expect(loaded).toContain('/jiti.cjs')
    expect(loaded).not.toContain('/babel.cjs')
  })
})

describe('a config that cannot be used ends the process with 1 and one line, soon', () => {
  const rest = { shop: { baseUrl: 'http://127.0.0.1:1', endpoints: [{ name: 'item', path: '/item' }] } }
  const server = createServer()
  const disposables = createDisposables(afterAll)
  /** What it takes today to load the gateway and end it. */
  let startMs = 0
  beforeAll(async () => {
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    startMs = (
      await timed([
        'print-schema',
        '--config',
        await configFile({ rest }, (remove) => disposables.use(remove)),
      ])
    ).ms
  })
  afterAll(() => void server.close())

  /** Runs the program to its end. */
  async function timed(
    args: readonly string[],
  ): Promise<{ ms: number; code: unknown; lines: readonly string[] }> {
    const startedAt = performance.now()
    const program = await spawnProcess({ command: process.execPath, args: [MAIN, ...args] })
    const { code } = await program.exited
    return { ms: performance.now() - startedAt, code, lines: program.lines }
  }

  it.each<[string, string, () => object, RegExp]>([
    ['an unknown key', 'start', () => ({ sever: {} }), /sever: unknown setting; did you mean server\?/],
    ['a wrong type', 'start', () => ({ server: { port: 'high' } }), /server\.port: expected number/],
    [
      'a missing proto',
      'start',
      () => ({ grpc: { users: { endpoint: 'localhost:1', protoFiles: ['nope.proto'] } } }),
      /grpc\.users: the proto file ".*nope\.proto" was not found/,
    ],
    [
      'a port that is taken',
      'start',
      () => ({ rest, server: { port: (server.address() as AddressInfo).port } }),
      /server\.port: \d+ is already in use on 127\.0\.0\.1; stop the other process, or pass --port/,
    ],
    [
      'a backend that cannot be reached for its schema',
      'start',
      () => ({ grpc: { users: { endpoint: '127.0.0.1:1', reflection: {} } } }),
      /grpc\.users: reflection could not load the descriptors from the server at 127\.0\.0\.1:1 .* start the server/,
    ],
    [
      'a backend that cannot be reached',
      'check',
      () => ({ rest: { shop: { ...rest.shop, healthPath: '/health' } } }),
      /shop: not reachable; start the backend, or correct its address/,
    ],
    [
      'a Redis that is not there',
      'start',
      () => ({ rest, redisUrl: 'redis://127.0.0.1:1' }),
      /redisUrl: cannot connect to 127\.0\.0\.1:1 \(.*ECONNREFUSED.*\); start Redis, or correct/,
    ],
  ])('%s', { retry: 2 }, async (name, command, config, line) => {
    const file = await configFile(config())
    const { ms, code, lines } = await timed([command, '--config', file])
    process.stderr.write(`${name}: ${Math.round(ms)} ms (print-schema: ${Math.round(startMs)} ms)\n`)
    expect(code).toBe(1)
    expect(lines.filter((text) => text.startsWith('vinyasa: '))).toEqual([expect.stringMatching(line)])
    expect(lines.at(-1)).toMatch(line)
    // 2 s on a quiet machine; the bound leaves room for a busy one.
    expect(ms).toBeLessThan(1500 + 2 * startMs)
  })
})

it('a config that cannot be used is reported once, whatever the number of workers', async () => {
  const file = join(await temporaryFolder('process'), 'gateway.config.json')
  await writeFile(file, '{ "sever": {} }')
  const gateway = await spawnProcess({
    command: process.execPath,
    args: [MAIN, 'start', '--config', file, '--workers', '2'],
  })
  onTestFinished(() => gateway[Symbol.asyncDispose]())
  expect((await gateway.exited).code).toBe(1)
  expect(gateway.lines).toEqual([`vinyasa: ${file}:1:3: sever: unknown setting; did you mean server?`])
})
