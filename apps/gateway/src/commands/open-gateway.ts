import type { LoadedConfig } from '../config/file/load-config.ts'
import type { CreateGatewayOptions, Gateway } from '../gateway.ts'

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
