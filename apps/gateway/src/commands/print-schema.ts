import type { PresetFlag, CommandContext } from './context.ts'
import { loadConfig } from '../config/file/load-config.ts'
import { withPreset } from '../presets.ts'

/** `vinyasa print-schema`: the schema as SDL on standard output. */
export async function printSchemaCommand(flags: PresetFlag, context: CommandContext): Promise<void> {
  const { config: written, baseDirectory } = await loadConfig({
    file: flags.config,
    directory: context.directory,
    environment: context.environment,
  })
  const config = withPreset(written, flags.preset)
  const { createGateway } = await import('../gateway.ts')
  const { createLogger } = await import('../logging/logger.ts')
  const logger = await createLogger({ level: 'silent' })
  const gateway = await createGateway(config, { baseDirectory, logger })
  try {
    const { lexicographicSortSchema, printSchema } = await import('graphql')
    context.print(printSchema(lexicographicSortSchema(gateway.schema)))
  } finally {
    await gateway.close()
  }
}
