import { formatFinding } from '@vinyasa/core'
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigError, firstLine, messageOf } from '../../errors.ts'
import type { GatewayConfig } from '../types.ts'
import type { ModuleRead } from './import-module.ts'
import { parseConfig } from './parse-config.ts'
import { isDataFile } from './data-file.ts'
import type { PlaceOf } from './read-data.ts'

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
  /** The folder that relative names start from. */
  readonly directory: string
  /** Values for `${NAME}` in YAML and JSON. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

export interface LoadedConfig {
  readonly config: GatewayConfig
  readonly file: string
  /** Paths inside the config are relative to this folder, the config file's own. */
  readonly baseDirectory: string
  /** All that it was read from. */
  readonly files: readonly string[]
  /** What a mistake that was found later says, with the place of its setting before it. */
  readonly placed: (error: unknown) => Promise<unknown>
}

/** Finds, reads and validates a config file. Throws {@link ConfigError}: a line for each mistake, with file and path. */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const file = findConfigFile(options)
  const baseDirectory = dirname(file)
  if (isDataFile(file)) {
    const { readData } = await import('./read-data.ts')
    const { placeOf, ...read } = await readData(file, options.environment)
    return { file, baseDirectory, ...read, placed: (error) => withPlaces(error, placeOf) }
  }
  const { value, files } = await readModule(file)
  try {
    const placed = (error: unknown) => withPlaces(error, async () => file)
    return { file, baseDirectory, config: parseConfig(value), files, placed }
  } catch (error) {
    const lines = messageOf(error).split('\n')
    throw new ConfigError(lines.map((line) => `${file}: ${line}`).join('\n'), { cause: error })
  }
}

async function withPlaces(thrown: unknown, placeOf: PlaceOf): Promise<unknown> {
  if (!(thrown instanceof ConfigError) || thrown.findings.every(({ path }) => !path)) return thrown
  const lines = thrown.findings.map(async (finding) => {
    const text = formatFinding(finding)
    return finding.path ? `${await placeOf(finding.path, true, finding.offset)}: ${text}` : text
  })
  return new ConfigError((await Promise.all(lines)).join('\n'), { cause: thrown, files: thrown.files })
}

function findConfigFile({ file, directory }: LoadConfigOptions): string {
  if (file !== undefined) {
    const path = resolve(directory, file)
    if (!existsSync(path))
      throw new ConfigError(`${path}: no such config file; pass an existing file with --config`)
    return path
  }
  const found = CONFIG_FILES.map((name) => resolve(directory, name)).find((path) => existsSync(path))
  if (found === undefined) {
    throw new ConfigError(
      `${directory}: no config file; expected one of ${CONFIG_FILES.join(', ')}; create a config with \`vinyasa init\``,
    )
  }
  return found
}

async function readModule(file: string): Promise<ModuleRead> {
  try {
    if (/\.m?[tj]s$/.test(file)) return await (await import('./import-module.ts')).importModule(file)
    throw new ConfigError(
      'unsupported config file; expected the extension .ts, .mts, .js, .mjs, .yaml, .yml or .json',
    )
  } catch (error) {
    throw new ConfigError(`${file}: ${firstLine(messageOf(error))}`, { cause: error })
  }
}
