import { badInput, RestConfigError } from '../errors.ts'

/** Arguments of one call, by name. */
export type Args = Readonly<Record<string, unknown>>

/** A template that was checked and compiled, with its variables. */
export interface Template<Rendered = string> {
  readonly variables: readonly string[]
  render(args: Args): Rendered
}

export type TemplatePart = string | { readonly variable: string }

const VARIABLE = /\{([_A-Za-z][_0-9A-Za-z]*)\}/g

/** Splits `"a-{b}"` into `["a-", {variable: "b"}]`. Braces that hold no name stay text: JSON is full of them. */
export function parseTemplate(template: string): TemplatePart[] {
  const parts: TemplatePart[] = []
  let end = 0
  for (const match of template.matchAll(VARIABLE)) {
    if (match.index > end) parts.push(template.slice(end, match.index))
    parts.push({ variable: match[1] ?? '' })
    end = match.index + match[0].length
  }
  if (end < template.length) parts.push(template.slice(end))
  return parts
}

export function variablesOf(parts: readonly TemplatePart[]): string[] {
  return parts.flatMap((part) => (typeof part === 'string' ? [] : [part.variable]))
}

/** Refuses `{user-id}` and an unclosed brace, which would otherwise be sent as they stand. */
export function refuseStrayBraces(parts: readonly TemplatePart[], template: string): void {
  if (parts.some((part) => typeof part === 'string' && /[{}]/.test(part)))
    throw new RestConfigError(
      `"${template}" contains a brace that is not part of a variable; ` +
        `write {name} with letters, digits and underscores only`,
    )
}

/** An argument as text; objects, lists and non-finite numbers have no text form. */
export function toText(value: unknown, variable: string): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  // A date or a file has a text that stands for it.
  if (typeof value === 'object' && value !== null && 'toJSON' in value && typeof value.toJSON === 'function')
    return toText(value.toJSON(), variable)
  throw badInput(`The value for "${variable}" must be a string, a finite number or a boolean.`)
}

/** An argument by own property only, so that `{constructor}` is never found on a prototype. */
export function argOf(args: Args, variable: string): unknown {
  return Object.hasOwn(args, variable) ? args[variable] : undefined
}

/** Percent-encodes a value; a lone surrogate has no encoding. */
export function encodeText(text: string, name: string): string {
  try {
    return encodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) throw badInput(`The value for "${name}" is not valid Unicode.`)
    throw error
  }
}
