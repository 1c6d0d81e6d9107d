import { badInput, RestConfigError } from '../errors.ts'
import type { NameValues } from './query-template.ts'
import {
  argOf,
  parseTemplate,
  toText,
  variablesOf,
  type Args,
  type Template,
  type TemplatePart,
} from './template.ts'

/** RFC 9110 §5.1. */
export function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)
}

/**
 * Compiles header templates; of two maps that name the same header, the later one wins. Names are in lower case, and a header
 * with an absent or null variable is left out.
 */
export function compileHeaders(...maps: readonly NameValues[]): Template<Readonly<Record<string, string>>> {
  const templates = new Map<string, TemplatePart[][]>()
  for (const map of maps)
    for (const [name, values] of Object.entries(map)) {
      const path = [name]
      if (!isHeaderName(name)) throw new RestConfigError(`"${name}" is not a valid header name`, { path })
      const parsed = [values].flat().map(parseTemplate)
      if (!parsed.flat().every((part) => typeof part !== 'string' || isHeaderValue(part)))
        throw new RestConfigError(
          `the value of header "${name}" contains a control character or a character outside Latin-1`,
          { path },
        )
      templates.set(name.toLowerCase(), parsed)
    }
  const entries: [string, TemplatePart[][]][] = []
  const constant: Record<string, string> = {}
  for (const [name, values] of templates)
    if (values.some((parts) => variablesOf(parts).length > 0)) entries.push([name, values])
    else constant[name] = values.map((parts) => parts.join('')).join(', ')
  return {
    variables: entries.flatMap(([, values]) => values.flatMap(variablesOf)),
    render(args) {
      if (entries.length === 0) return constant
      const headers = { ...constant }
      for (const [name, values] of entries) {
        const filled = values.map((parts) => filledText(parts, args)).filter((value) => value !== undefined)
        if (filled.length > 0) headers[name] = checkedHeader(name, filled.join(', '))
      }
      return headers
    },
  }
}

/** The text of a template; undefined where one of its variables has no value. */
function filledText(parts: readonly TemplatePart[], args: Args): string | undefined {
  let text = ''
  for (const part of parts) {
    const value = typeof part === 'string' ? part : argOf(args, part.variable)
    if (value === undefined || value === null) return undefined
    text += typeof part === 'string' ? part : toText(value, part.variable)
  }
  return text
}

/** The value, when it can be sent; the message names the header and never shows the value. */
export function checkedHeader(name: string, value: string): string {
  if (isHeaderValue(value)) return value
  throw badInput(
    `The value for header "${name}" contains a line break, a control character or a character outside Latin-1.`,
  )
}

/** RFC 9110 §5.5: visible characters, space, tab and obs-text. */
export function isHeaderValue(value: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return !/[\u0000-\u0008\u000A-\u001F\u007F\u0100-\uFFFF]/.test(value)
}
