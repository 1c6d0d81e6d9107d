import { loadConfig, type LoadedConfig } from '../config/file/load-config.ts'
import type { CreateGatewayOptions, Gateway } from '../gateway.ts'
import type { CommandContext, PresetFlag } from './context.ts'

/** The config that a command line names, with its preset, which wins. */
export async function load(
  { config: file, preset }: PresetFlag,
  { directory, environment }: CommandContext,
): Promise<LoadedConfig> {
  const { config, ...others } = await loadConfig({ file, directory, environment })
  return { config: preset === undefined ? config : { ...config, preset }, ...others }
}

/** The gateway of a config file. Throws `ConfigError`: what is wrong with it, and where in the file. */
export async function openGateway(
  { config, baseDirectory, placed }: LoadedConfig,
  options: Omit<CreateGatewayOptions, 'baseDirectory'>,
): Promise<Gateway> {
  const { createGateway } = await import('../gateway.ts')
  try {
    return await createGateway(config, { ...options, baseDirectory })
  } catch (error) {
    throw await placed(error)
  }
}
