import type { GraphQLSchema } from 'graphql'
import { loadConfig, type LoadedConfig } from '../config/file/load-config.ts'
import type { GatewayConfig } from '../config/types.ts'
import type { CreateGatewayOptions, Gateway } from '../gateway.ts'
import type { Logger } from '../logging/logger.ts'
import type { CommandContext, PresetFlag } from './context.ts'

/** The config that a command line names, with its preset, which wins. */
export async function load(
  { config: file, preset }: PresetFlag,
  { directory, environment }: CommandContext,
): Promise<LoadedConfig> {
  const { config, ...others } = await loadConfig({ file, directory, environment })
  return { config: preset === undefined ? config : { ...config, preset }, ...others }
}

/** The schema of a gateway of a config, which is closed again. It logs nothing. */
export async function schemaOf(config: GatewayConfig, baseDirectory: string): Promise<GraphQLSchema> {
  const { createGateway } = await import('../gateway.ts')
  const gateway = await createGateway(config, { baseDirectory, logger: await silentLogger() })
  await gateway.close()
  return gateway.schema
}

export async function silentLogger(): Promise<Logger> {
  const { createLogger } = await import('../logging/logger.ts')
  return createLogger({ level: 'silent' })
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
