import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, spawnProcess, waitUntil, type Disposables } from '@vinyasa/test-kit'
import type { Plugin } from './plugins.ts'
import { toJavaScript, toModule, toProgram } from './to-programs.ts'

export interface Start {
  /** The folder where everything is installed. */
  readonly installed: string
  readonly plugin: Plugin
  /** The plugin's example, TypeScript; undefined: the host's own example as it stands. */
  readonly code: string | undefined
  readonly disposables: Disposables
}

/** Something that runs JavaScript, or serves it. */
export interface Host {
  readonly name: string
  /** Serves the example and gives the URL of its GraphQL endpoint. Rejects with what was written when it ends. */
  start(start: Start): Promise<string>
  /** The host is a folder in `examples/`. */
  readonly example?: boolean
  /** WebSockets reach the example. */
  readonly sockets?: boolean
  /** Plugins that cannot work there, with the sentence that they say at start, and their README says. */
  readonly refuses?: Readonly<Record<string, string>>
  /** Plugins that are no use there, and of which the README says so. */
  readonly without?: Readonly<Record<string, string>>
}

/** A package manager that runs the tests shows its modules to every program below it. */
const outside = { NODE_PATH: undefined }

/** Runs a program that listens on `PORT` and waits until it answers. */
async function serve(
  { disposables }: Start,
  cwd: string,
  [command, ...args]: readonly [string, ...string[]],
): Promise<string> {
  const port = await freePort()
  const env = { ...outside, PORT: String(port), NODE_ENV: 'development' }
  const placed = args.map((arg) => arg.replace('$PORT', String(port)))
  const program = disposables.use(await spawnProcess({ command, args: placed, cwd, env }))
  const url = `http://127.0.0.1:${port}/graphql`
  const answers = async (): Promise<boolean> => {
    await (await fetch(`${url}?query={__typename}`)).text()
    return true
  }
  await waitUntil(async () => !program.isRunning() || (await answers()), {
    timeoutMs: 30_000,
    everyMs: 50,
    awaited: `${command} ${placed.join(' ')} to listen`,
  }).catch((error: Error) => {
    throw new Error(`${error.message}. It wrote:\n${program.output()}`, { cause: error })
  })
  if (!program.isRunning()) throw new Error(program.output())
  return url
}

/** A folder of its own for one example on one host. */
function folderFor({ installed, plugin }: Start, host: string): string {
  const folder = join(installed, 'cells', host, plugin.name)
  mkdirSync(folder, { recursive: true })
  for (const [file, text] of Object.entries(plugin.files ?? {})) writeFileSync(join(folder, file), text)
  return folder
}

const bin = (installed: string, name: string): string => join(installed, 'node_modules/.bin', name)

type Command = (installed: string) => readonly [string, ...string[]]

const node: Command = () => [process.execPath]
const bun: Command = (installed) => [bin(installed, 'bun')]
const deno: Command = (installed) => [bin(installed, 'deno'), 'run', '--allow-all']

/** The README's example as it stands, on `node:http`. */
function runtime(name: string, command: Command): Host {
  return {
    name,
    sockets: true,
    start(start) {
      if (start.code === undefined) throw new Error('A runtime has no example of its own')
      const folder = folderFor(start, name)
      writeFileSync(join(folder, 'main.js'), toJavaScript(start.installed, toProgram(start.code)))
      return serve(start, folder, [...command(start.installed), 'main.js'])
    },
  }
}

/** The same, bundled, where there is no `node_modules`. */
function bundle(name: string, build: (installed: string) => readonly [string, ...string[]]): Host {
  return {
    name,
    sockets: true,
    start(start) {
      if (start.code === undefined) throw new Error('A bundler has no example of its own')
      const folder = folderFor(start, name)
      writeFileSync(join(folder, 'main.ts'), toProgram(start.code))
      const [command, ...args] = build(start.installed)
      const alone = mkdtempSync(join(tmpdir(), 'vinyasa-bundle-'))
      start.disposables.use(() => rmSync(alone, { recursive: true }))
      execFileSync(command, [...args, 'main.ts'], {
        cwd: folder,
        env: { ...process.env, ...outside },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      // Whatever was built, and what the example reads.
      for (const file of readdirSync(folder)) {
        if (file !== 'main.ts') cpSync(join(folder, file), join(alone, file))
      }
      writeFileSync(join(alone, 'package.json'), '{"type":"module"}')
      return serve(start, alone, [process.execPath, 'main.js'])
    },
  }
}

/** A copy of a folder of `examples/`, with the plugin's example in place of its `yoga.js`. */
function exampleFolder(start: Start, name: string, host: string): string {
  const folder = folderFor(start, host)
  cpSync(join(start.installed, 'examples', name), folder, { recursive: true })
  if (start.code !== undefined) {
    writeFileSync(join(folder, 'yoga.js'), toJavaScript(start.installed, toModule(start.code)))
  }
  return folder
}

/** One of an example's own scripts, with what is installed on the path. */
function runScript({ installed }: Start, cwd: string, name: string): void {
  const env = {
    ...process.env,
    ...outside,
    PATH: `${join(installed, 'node_modules/.bin')}:${process.env['PATH']}`,
  }
  execFileSync('npm', ['run', name], { cwd, env, stdio: 'pipe' })
}

/** A folder of `examples/`, with the plugin's example in place of its `yoga.js`. */
function example(
  name: string,
  command: Command,
  more: Partial<Host> & { readonly server?: string } = {},
): Host {
  const { server = 'server.js', ...rest } = more
  return {
    name: `examples/${name}/${server}`,
    example: true,
    start(start) {
      const folder = exampleFolder(start, name, `${name}-${server}`)
      return serve(start, folder, [...command(start.installed), server])
    },
    ...rest,
  }
}

/** The folder `examples/worker`, built by its own script and served by workerd. */
function worker(name: string, more: Partial<Host>): Host {
  return {
    ...more,
    name: `examples/${name}/server.js`,
    example: true,
    start(start) {
      const folder = exampleFolder(start, name, name)
      runScript(start, folder, 'build')
      return serve(start, folder, [
        bin(start.installed, 'workerd'),
        'serve',
        'workerd.capnp',
        '--socket-addr=http=127.0.0.1:$PORT',
      ])
    },
  }
}

// Modules of CommonJS in a bundle ask for Node's by `require`.
const REQUIRE =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

const NODE_DOOR =
  "@vinyasa/node-handler is for Node's own HTTP server: where requests are Request objects, call yoga.fetch."
const SOCKETS =
  '@vinyasa/grpc-source needs the sockets of Node, Bun or Deno for HTTP/2: run this server there, or bundle it with the export condition "node".'

const REQUESTS =
  '@vinyasa/live-query keeps requests open that other requests wake, which Cloudflare Workers do not allow: run this server on Node, Bun or Deno.'

export const hosts: readonly Host[] = [
  runtime('node-20', node),
  runtime('node-22', (installed) => [join(installed, 'node_modules/node-22/bin/node')]),
  runtime('node-24', (installed) => [join(installed, 'node_modules/node-24/bin/node')]),
  runtime('bun', bun),
  runtime('deno', deno),
  bundle('esbuild', (installed) => [
    bin(installed, 'esbuild'),
    '--bundle',
    '--platform=node',
    '--format=esm',
    `--banner:js=${REQUIRE}`,
    '--outfile=main.js',
  ]),
  bundle('rolldown', (installed) => [
    bin(installed, 'rolldown'),
    '--platform=node',
    '--format=esm',
    '--dir=.',
    '--input',
  ]),
  example('express', node),
  example('fastify', node),
  example('fastify', node, { server: 'server-parsed.js' }),
  example('fastify', node, { server: 'server-middie.js' }),
  example('koa', node),
  example('nest', node),
  example('hono', node, { without: { 'node-handler': NODE_DOOR } }),
  example('bun', bun, { without: { 'node-handler': NODE_DOOR } }),
  example('deno', deno, { without: { 'node-handler': NODE_DOOR } }),
  worker('worker', {
    refuses: { 'node-handler': NODE_DOOR, 'grpc-source': SOCKETS, 'live-query': REQUESTS },
  }),
]
