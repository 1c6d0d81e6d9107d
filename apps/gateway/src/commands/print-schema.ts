import type { CommandContext, ConfigFlag } from './context.ts'
import { loadConfig } from '../config/load-config.ts'

/** `vinyasa print-schema`: the schema as SDL on standard output. */
export async function printSchemaCommand(flags: ConfigFlag, context: CommandContext): Promise<void> {
  const { config, baseDirectory } = await loadConfig({
    file: flags.config,
    directory: context.directory,
    environment: context.environment,
  })
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
