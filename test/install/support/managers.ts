import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

export type NodeVersion = 'node-lowest' | 'node-newest'

export interface Manager {
  readonly name: string
  /** Its program, below the tools. */
  readonly program: string
  readonly args: readonly string[]
}

/** Each refuses a package whose `engines` do not take the Node that it runs on, but Yarn 4, which does not look. */
export const managers: readonly Manager[] = [
  {
    name: 'npm',
    program: 'npm/bin/npm-cli.js',
    args: ['install', '--no-audit', '--no-fund', '--engine-strict'],
  },
  { name: 'pnpm', program: 'pnpm/bin/pnpm.cjs', args: ['install', '--config.engine-strict=true'] },
  // Two of them at once spoil the cache that they share.
  {
    name: 'Yarn 1',
    program: 'yarn/bin/yarn.js',
    args: ['install', '--non-interactive', '--no-progress', '--mutex', 'network'],
  },
  { name: 'Yarn 4', program: '@yarnpkg/cli-dist/bin/yarn.js', args: ['install', '--no-immutable'] },
]

export interface Project {
  readonly folder: string
  /** Rejects with what was written where it fails. */
  run(program: readonly string[]): Promise<string>
  readonly node: string
}

/** A project whose packages of this scope come from the registry of the test, and the others from npm's. */
export function makeProject(
  folder: string,
  options: {
    readonly tools: string
    readonly registry: string
    readonly node: NodeVersion
    readonly dependencies: Readonly<Record<string, string>>
    /** In place of what packages ask for themselves. */
    readonly overrides?: Readonly<Record<string, string>>
  },
): Project {
  const { tools, registry, dependencies, overrides = {} } = options
  const others = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
  mkdirSync(folder, { recursive: true })
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text)
  const manifest = { name: 'a-project', private: true, type: 'module', dependencies }
  const forAll = { overrides, resolutions: overrides, pnpm: { overrides } }
  write('package.json', JSON.stringify({ ...manifest, ...forAll }))
  write('.npmrc', `@vinyasa:registry=${registry}\n`)
  write(
    '.yarnrc.yml',
    `nodeLinker: node-modules
enableTelemetry: false
unsafeHttpWhitelist: [127.0.0.1]
npmPreapprovedPackages: ['@vinyasa/*']
npmRegistryServer: ${others}
npmScopes: { vinyasa: { npmRegistryServer: '${registry}' } }
`,
  )
  write('yarn.lock', '')
  const bin = join(tools, 'node_modules', options.node, 'bin')
  const node = join(bin, 'node')
  return {
    folder,
    node,
    async run([program = '', ...args]) {
      const env = {
        ...process.env,
        PATH: `${bin}${delimiter}${process.env['PATH']}`,
        NODE_PATH: '',
        CI: '1',
        // Yarn 4 remembers packages by name and version, be they of a registry that was here before.
        YARN_GLOBAL_FOLDER: join(tools, 'yarn'),
      }
      const running = promisify(execFile)(program, args, { cwd: folder, env, maxBuffer: 10_000_000 })
      const { stdout } = await running.catch((error: { stdout: string; stderr: string }) => {
        throw new Error(`${error.stdout}\n${error.stderr}`, { cause: error })
      })
      return stdout
    },
  }
}

/** Installs what the project depends on, with that Node. */
export async function install(project: Project, manager: Manager, tools: string): Promise<string> {
  return project.run([project.node, join(tools, 'node_modules', manager.program), ...manager.args])
}
