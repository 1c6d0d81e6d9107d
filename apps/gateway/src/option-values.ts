import { LEAST_POLL_INTERVAL_MS, type LiveOptions, VOLATILITY_NAMES } from '@vinyasa/core'
import type { SourceNames } from '@vinyasa/source-kit'
import { z } from 'zod'

/** Values that several parts of the config use. */
export const milliseconds: z.ZodNumber = z.number().int().nonnegative()
export const count: z.ZodNumber = z.number().int().nonnegative()

/** A header's name (RFC 9110, section 5.6.2). */
export const headerName: z.ZodString = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'expected the name of a header, for example x-user-id')

/** Names of the user's own with text as values; several for one name as a list. */
export const nameValues: z.ZodType<Record<string, string | string[]>> = z.record(
  z.string(),
  z.union([z.string(), z.array(z.string())]),
)

/** Names of the user's own with one text each. */
export const textValues: z.ZodType<Record<string, string>> = z.record(z.string(), z.string())

/** Options for the names of a source's types and fields that clients see. */
export const sourceNames: OptionsOf<SourceNames> = {
  prefix: z
    .union([z.string(), z.strictObject({ types: z.string().optional(), fields: z.string().optional() })])
    .optional(),
  rename: textValues.optional(),
  hide: z.array(z.string()).optional(),
}

/** Names of GraphQL types; `*` stands for any. */
export const typeNames: z.ZodArray<z.ZodString> = z.array(z.string())

/** The specification's "Live query option", for one field. */
export const liveOptions: z.ZodType<LiveOptions> = z.strictObject({
  enabled: z.boolean().optional(),
  strategy: z.enum(['INVALIDATION', 'POLLING', 'HASH_DIFF']).optional(),
  triggers: z.array(z.string()).optional(),
  dependsOn: z.array(z.string()).optional(),
  throttleMs: milliseconds.optional(),
  pollIntervalMs: milliseconds.min(LEAST_POLL_INTERVAL_MS).optional(),
  ttlSeconds: count.optional(),
  maxConnections: count.optional(),
  volatility: z.enum(VOLATILITY_NAMES).optional(),
  filter: z.enum(['backend', 'gateway']).optional(),
})

/** A function, which only a config in TypeScript or JavaScript can hold. */
export function functionValue(): z.ZodType {
  return z.custom((value) => typeof value === 'function', 'expected a function (in a .ts or .js config)')
}

/** A schema for each option that there is, so that the config cannot fall behind the packages it configures. */
export type OptionsOf<Config> = Readonly<Record<keyof Config, z.ZodType>>
