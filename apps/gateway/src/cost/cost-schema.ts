import { z } from 'zod'
import type { CostConfig, CostRule, ListSizeConfig } from './cost-types.ts'
import { count, type OptionsOf } from '../option-values.ts'

const name = z.string().min(1)
const weight = z.number().min(0)

const listSize = z.strictObject({
  assumedSize: count.optional(),
  slicingArguments: z.array(name).min(1).optional(),
  sizedFields: z.array(name).min(1).optional(),
  requireOneSlicingArgument: z.boolean().optional(),
} satisfies OptionsOf<ListSizeConfig>)

const rule = z.strictObject({
  weight: weight.optional(),
  arguments: z.record(name, weight).optional(),
  listSize: listSize.optional(),
} satisfies OptionsOf<CostRule>)

/** The config's `cost`. */
export const cost: z.ZodType<CostConfig> = z.strictObject({
  max: count.optional(),
  includeExtensionMetadata: z.boolean().optional(),
  listSize: count.optional(),
  fields: z.record(z.string(), rule).optional(),
} satisfies OptionsOf<CostConfig>) as z.ZodType<CostConfig>
