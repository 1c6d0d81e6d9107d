import type { z } from 'zod'
import { definitionOf } from '../definition.ts'

type Environment = Readonly<Record<string, string | undefined>>

const VARIABLE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i

/** A text that was made of variables: what type it has depends on where it stands. */
export class FromEnvironment {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A variable that is not set, and where it is asked for. */
export interface UnsetVariable {
  readonly path: readonly PropertyKey[]
  readonly name: string
}

/**
 * Replaces `${NAME}` and `${NAME:-default}` in every string of a parsed YAML or JSON config by {@link FromEnvironment};
 * the default stands for a variable that is unset or empty, as in a shell. `$${` stands for a literal `${`.
 */
export function substituteEnvironment(
  value: unknown,
  environment: Environment,
  onUnset: (unset: UnsetVariable) => void,
  path: readonly PropertyKey[] = [],
): unknown {
  if (typeof value === 'string') return substituteText(value, environment, (name) => onUnset({ path, name }))
  if (Array.isArray(value))
    return value.map((item, index) => substituteEnvironment(item, environment, onUnset, [...path, index]))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      substituteEnvironment(item, environment, onUnset, [...path, key]),
    ]),
  )
}

function substituteText(
  text: string,
  environment: Environment,
  onUnset: (name: string) => void,
): string | FromEnvironment {
  let hasVariable = false
  const made = text.replace(VARIABLE, (_, name: string | undefined, fallback: string | undefined) => {
    if (name === undefined) return '${'
    hasVariable = true
    const set = environment[name]
    const found = fallback === undefined ? set : set || fallback
    if (found === undefined) onUnset(name)
    return found ?? ''
  })
  return hasVariable ? new FromEnvironment(made) : made
}

/** The text as what the schema takes there: as it is where texts are taken, else as a boolean or a number. */
export function typedFor({ text }: FromEnvironment, schema: unknown): unknown {
  const trimmed = text.trim()
  const boolean = trimmed === 'true' ? true : trimmed === 'false' ? false : undefined
  const number = NUMBER.test(trimmed) ? Number(trimmed) : undefined
  if (!isSchema(schema)) return text
  const candidates = [text, boolean, number].filter((candidate) => candidate !== undefined)
  const taken = candidates.find((candidate) => schema.safeParse(candidate).success)
  if (taken !== undefined) return taken
  // The mistake that is reported is then that of the value, not that it is text.
  const { type } = definitionOf(schema) ?? {}
  return candidates.find((candidate) => typeof candidate === type) ?? text
}

/** The texts of what no setting took, for what reports them. */
export function withTexts(value: unknown): unknown {
  if (value instanceof FromEnvironment) return value.text
  if (Array.isArray(value)) return value.map(withTexts)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withTexts(item)]))
}

function isSchema(value: unknown): value is z.ZodType {
  return typeof (value as Partial<z.ZodType> | undefined)?.safeParse === 'function'
}
