import type { PresetFlag, CommandContext } from './context.ts'
import { load, openGateway, silentLogger } from './load.ts'

/** `vinyasa print-schema`: the schema as SDL on standard output. */
export async function printSchemaCommand(flags: PresetFlag, context: CommandContext): Promise<void> {
  const loaded = await load(flags, context)
  const gateway = await openGateway(loaded, { logger: await silentLogger() })
  try {
    const { lexicographicSortSchema, printSchema } = await import('graphql')
    context.print(printSchema(lexicographicSortSchema(gateway.schema)))
  } finally {
    await gateway.close()
  }
}
