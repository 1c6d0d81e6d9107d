import { lexicographicSortSchema, printSchema } from 'graphql'
import type { CommandContext, ConfigFlag } from '../cli.ts'
import { loadConfig } from '../config/load-config.ts'
import { createGateway } from '../gateway.ts'
import { createLogger } from '../logger.ts'

/** `vinyasa print-schema`: the schema as SDL on standard output. */
export async function printSchemaCommand(flags: ConfigFlag, context: CommandContext): Promise<void> {
  const { config, baseDirectory } = await loadConfig({
    file: flags.config,
    directory: context.directory,
    environment: context.environment,
  })
  const logger = await createLogger({ level: 'silent' })
  const gateway = await createGateway(config, { baseDirectory, logger })
  try {
    context.print(printSchema(lexicographicSortSchema(gateway.schema)))
  } finally {
    await gateway.close()
  }
}
