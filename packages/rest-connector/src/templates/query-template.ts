import { atPlace } from '../errors.ts'
import {
  argOf,
  encodeText,
  parseTemplate,
  refuseStrayBraces,
  toText,
  variablesOf,
  type Args,
  type Template,
  type TemplatePart,
} from './template.ts'

/** How a list becomes a query: `a=1&a=2`, `a=1,2`, or `a[]=1&a[]=2`. */
export type QueryArrayFormat = 'repeat' | 'comma' | 'brackets'

/** Name and template; a list repeats the name. */
export type NameValues = Readonly<Record<string, string | readonly string[]>>

/** Compiles to `?a=1&b=2`, or the empty string. */
export function compileQuery(params: NameValues, arrayFormat: QueryArrayFormat): Template {
  const entries = Object.entries(params).flatMap(([name, templates]) =>
    [templates].flat().map((template) => {
      const parts = parseTemplate(template)
      atPlace(['queryParams', name], () => refuseStrayBraces(parts, template))
      return { name, parts }
    }),
  )
  return {
    variables: entries.flatMap(({ parts }) => variablesOf(parts)),
    render(args) {
      let query = ''
      for (const { name, parts } of entries) {
        const pairs = pairsOf(name, parts, args, arrayFormat)
        if (arrayFormat === 'comma' && pairs.length > 1) {
          // Encoded one by one: the commas that separate differ from those of the items.
          const items = pairs.map(([, item]) => encodeText(item, name)).join(',')
          query += `${query ? '&' : '?'}${encodeURIComponent(name)}=${items}`
          continue
        }
        for (const [key, value] of pairs)
          query += `${query ? '&' : '?'}${encodeURIComponent(key)}=${encodeText(value, key)}`
      }
      return query
    },
  }
}

/**
 * Returns the pairs that one declared parameter sends, an item each; none when a variable is absent or null.
 */
export function pairsOf(
  name: string,
  parts: readonly TemplatePart[],
  args: Args,
  arrayFormat: QueryArrayFormat,
): (readonly [string, string])[] {
  const values = parts.map((part) => (typeof part === 'string' ? part : argOf(args, part.variable)))
  if (values.some((value) => value === undefined || value === null)) return []
  const only = parts.length === 1 ? parts[0] : undefined
  if (only !== undefined && typeof only !== 'string' && Array.isArray(values[0])) {
    const items = values[0]
      .filter((item: unknown) => item !== undefined && item !== null)
      .map((item: unknown) => toText(item, only.variable))
    return items.map((item) => [arrayFormat === 'brackets' ? `${name}[]` : name, item] as const)
  }
  const text = parts.map((part, index) => {
    if (typeof part === 'string') return part
    const value = values[index]
    const textOf = (item: unknown): string => toText(item, part.variable)
    return Array.isArray(value) ? value.map(textOf).join(',') : textOf(value)
  })
  return [[name, text.join('')]]
}
