import type { SourceNames } from '@vinyasa/source-kit'
import { z } from 'zod'
import { toPattern } from '../http/cors.ts'

/** Values that several parts of the config use. */
export const milliseconds: z.ZodNumber = z.number().int().nonnegative()
export const count: z.ZodNumber = z.number().int().nonnegative()

/** A header's name (RFC 9110, section 5.6.2). */
export const headerName: z.ZodString = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'expected the name of a header, for example x-user-id')

/** An origin whose pages may ask, or a pattern of them. */
export const origin: z.ZodType<string | RegExp> = z
  .union([z.string(), z.instanceof(RegExp)])
  .refine(isOrigin, {
    error:
      'expected an origin as browsers send it, such as "https://app.example" (in lower case, no path, default port or * in it), "*", or a pattern between slashes',
  })

function isOrigin(value: string | RegExp): boolean {
  if (typeof value !== 'string') return true
  try {
    if (value === '*' || toPattern(value) !== undefined) return true
    const { origin: sent } = new URL(value)
    // How clients send an origin whose scheme is no browser's own, such as an app's, is not known.
    return sent === 'null'
      ? /^[a-z][a-z0-9+.-]*:\/\/[^/\s?#@*]+$/.test(value)
      : sent === value && !sent.includes('*')
  } catch {
    return false
  }
}

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

/** A function, which only a config in TypeScript or JavaScript can hold. */
export function functionValue(): z.ZodType {
  return z.custom((value) => typeof value === 'function', 'expected a function (in a .ts or .js config)')
}

/** A schema for each option that there is, so that the config cannot fall behind the packages it configures. */
export type OptionsOf<Config> = Readonly<Record<keyof Config, z.ZodType>>
