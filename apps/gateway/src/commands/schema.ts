import { configJsonSchema } from '../config/json-schema.ts'
import type { CommandContext } from './context.ts'

/** `vinyasa schema`: what a config in YAML or JSON may hold. */
export async function schemaCommand(context: CommandContext): Promise<void> {
  context.print(JSON.stringify(configJsonSchema(), null, 2))
}
