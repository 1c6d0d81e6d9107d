import { z } from 'zod'
import type { FederationConfig, FederationEntity } from './types.ts'
import { count, textValues, type OptionsOf } from '../option-values.ts'

const entity: z.ZodType<FederationEntity> = z.strictObject({
  key: z.union([z.string(), z.array(z.string())]),
  field: z.union([z.string(), z.literal(false)]).optional(),
  args: textValues.optional(),
  itemKey: z.string().optional(),
} satisfies OptionsOf<FederationEntity>)

export const federation: z.ZodType<boolean | FederationConfig> = z.union([
  z.boolean(),
  z.strictObject({
    entities: z.record(z.string(), entity).optional(),
    maxReferences: count.optional(),
  } satisfies OptionsOf<FederationConfig>),
])
