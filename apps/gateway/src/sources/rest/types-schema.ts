import type { TypeDefinitions } from '@vinyasa/rest-connector'
import { z } from 'zod'

const description = z.string().optional()

const members = z.record(
  z.string(),
  z.strictObject({
    type: z.string(),
    key: z.string().optional(),
    default: z.null().optional(),
    besides: z.array(z.string()).optional(),
    deprecated: z.string().optional(),
    description,
  }),
)

const signs = z.strictObject({
  required: z.array(z.string()).optional(),
  constants: z.record(z.string(), z.array(z.unknown())).optional(),
})

const discriminator = z
  .strictObject({ key: z.string(), types: z.record(z.string(), z.string()), rest: z.string().optional() })
  .optional()

const enumValue = z.strictObject({
  value: z.union([z.string(), z.number(), z.boolean()]),
  deprecated: z.string().optional(),
  description,
})

/** The `types` of an entry of the config's `rest`. */
export const typeDefinitions: z.ZodType<TypeDefinitions> = z.record(
  z.string(),
  z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('object'),
      fields: members,
      interfaces: z.array(z.string()).optional(),
      description,
    }),
    z.strictObject({
      kind: z.literal('union'),
      members: z.record(z.string(), signs),
      discriminator,
      description,
    }),
    z.strictObject({
      kind: z.literal('interface'),
      fields: members,
      members: z.record(z.string(), signs),
      discriminator,
      description,
    }),
    z.strictObject({ kind: z.literal('enum'), values: z.record(z.string(), enumValue), description }),
    z.strictObject({
      kind: z.literal('scalar'),
      pattern: z.string().optional(),
      specifiedBy: z.string().optional(),
      description,
    }),
    z.strictObject({ kind: z.literal('entry'), value: z.string(), description }),
    z.strictObject({
      kind: z.literal('input'),
      fields: members,
      isOneOf: z.boolean().optional(),
      description,
    }),
    z.strictObject({ kind: z.literal('input entry'), value: z.string(), description }),
  ]),
)
