import type { PresetFlag, CommandContext } from './context.ts'
import { load } from './load.ts'

/** `vinyasa print-schema`: the schema as SDL on standard output. */
export async function printSchemaCommand(flags: PresetFlag, context: CommandContext): Promise<void> {
  const { config, baseDirectory } = await load(flags, context)
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
