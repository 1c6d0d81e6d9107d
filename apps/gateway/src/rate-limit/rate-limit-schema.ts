import { z } from 'zod'
import { count, headerName, type OptionsOf } from '../option-values.ts'
import type { RateLimitConfig, RateLimitRule } from './rate-limit-types.ts'

const name = z.string().min(1)

const rateLimitRule = z
  .strictObject({
    by: z
      .union([
        z.literal('address'),
        z.strictObject({ claim: name }),
        z.strictObject({ header: headerName, trusted: z.boolean().optional() }),
      ])
      .optional(),
    max: count,
    windowSeconds: z.number().positive(),
    operations: z.array(name).min(1).optional(),
    fields: z.array(name).min(1).optional(),
    counts: z.enum(['requests', 'executions']).optional(),
  } satisfies OptionsOf<RateLimitRule>)
  .refine(({ counts, operations, fields }) => counts !== 'requests' || !(operations ?? fields), {
    error: 'a rule with operations or fields counts executions; set counts to executions, or remove counts',
    path: ['counts'],
  })

/** The config's `rateLimit`. */
export const rateLimit: z.ZodType<RateLimitConfig> = z.strictObject({
  rules: z.array(rateLimitRule).min(1),
} satisfies OptionsOf<RateLimitConfig>) as z.ZodType<RateLimitConfig>
