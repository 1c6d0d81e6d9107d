import { existsSync, mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, extname, join, resolve } from 'node:path'
import { ConfigError, messageOf } from '../errors.ts'
import { substituteEnvironment } from './environment.ts'
import { parseConfig } from './schema.ts'
import type { GatewayConfig } from './types.ts'

/** Looked for in this order when no `--config` is given. */
export const CONFIG_FILES: readonly string[] = [
  'gateway.config.ts',
  'gateway.config.js',
  'gateway.config.mjs',
  'gateway.config.yaml',
  'gateway.config.yml',
  'gateway.config.json',
]

export interface LoadConfigOptions {
  /** Config file; default: the first of {@link CONFIG_FILES} found in `directory`. */
  readonly file?: string | undefined
  /** Where relative names start. */
  readonly directory: string
  /** Values for `${NAME}` in YAML and JSON. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

export interface LoadedConfig {
  readonly config: GatewayConfig
  readonly file: string
  /** Paths inside the config are relative to this folder, the config file's own. */
  readonly baseDirectory: string
}

/** Finds, reads and validates a config file. Throws {@link ConfigError}, one line that names file and path. */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const file = findConfigFile(options)
  const raw = await readConfigFile(file, options.environment)
  try {
    return { config: parseConfig(raw), file, baseDirectory: dirname(file) }
  } catch (error) {
    throw new ConfigError(`${file}: ${messageOf(error)}`, { cause: error })
  }
}

function findConfigFile({ file, directory }: LoadConfigOptions): string {
  if (file !== undefined) {
    const path = resolve(directory, file)
    if (!existsSync(path))
      throw new ConfigError(`${path}: no such config file; pass --config with an existing one`)
    return path
  }
  const found = CONFIG_FILES.map((name) => resolve(directory, name)).find((path) => existsSync(path))
  if (found === undefined) {
    throw new ConfigError(
      `${directory}: no config file; expected one of ${CONFIG_FILES.join(', ')}; create one with \`vinyasa init\``,
    )
  }
  return found
}

async function readConfigFile(file: string, environment: LoadConfigOptions['environment']): Promise<unknown> {
  try {
    switch (extname(file)) {
      case '.ts':
      case '.mts':
      case '.js':
      case '.mjs':
        return await importModule(file)
      case '.yaml':
      case '.yml':
        return substituteEnvironment((await import('yaml')).parse(await readFile(file, 'utf8')), environment)
      case '.json':
        return substituteEnvironment(JSON.parse(await readFile(file, 'utf8')), environment)
      default:
        throw new ConfigError('unknown kind of config file; expected .ts, .js, .yaml or .json')
    }
  } catch (error) {
    throw new ConfigError(`${file}: ${firstLine(messageOf(error))}`, { cause: error })
  }
}

async function importModule(file: string): Promise<unknown> {
  const { createJiti } = await import('jiti')
  const { compileApart } = await import('./compile-apart.ts')
  const folder = cacheFolder(file)
  if (folder !== undefined && /\.m?ts$/.test(file)) await compileApart(file, folder)
  // jiti reads TypeScript on every supported Node, and reads the file anew on each reload.
  const jiti = createJiti(import.meta.url, {
    moduleCache: false,
    fsCache: folder ?? false,
    interopDefault: true,
  })
  const loaded: unknown = await jiti.import(file, { default: true })
  return loaded
}

/**
 * Where the JavaScript of a TypeScript config is kept, so that the next start does not load a compiler: beside the
 * packages that the config imports, never in a folder for temporary files, which others may write. The config may hold
 * secrets, so nobody else may look into it. Undefined where there is no such folder.
 */
function cacheFolder(file: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const packages = join(folder, 'node_modules')
    if (existsSync(packages)) return makeFolder(join(packages, '.cache', 'vinyasa'))
    if (folder === dirname(folder)) return undefined
  }
}

function makeFolder(path: string): string | undefined {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    return path
  } catch {
    // An image or a package that cannot be written: every start compiles.
    return undefined
  }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? text
}
