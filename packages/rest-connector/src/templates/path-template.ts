import { badInput, RestConfigError } from '../errors.ts'
import {
  argOf,
  encodeText,
  parseTemplate,
  refuseStrayBraces,
  toText,
  variablesOf,
  type Args,
} from './template.ts'

export interface PathTemplate {
  readonly variables: readonly string[]
  /** The path with every value percent-encoded inside its own segment; starts with `/` unless it is empty. */
  render(args: Args): string
}

/**
 * Compiles `/users/{id}`. A value can never leave its segment: it is percent-encoded, and one that is, or that any
 * number of decodings turns into, a path of its own with `.` or `..` in it is refused.
 */
export function compilePath(path: string): PathTemplate {
  if (path !== '' && !path.startsWith('/')) throw new RestConfigError(`path "${path}" must start with "/"`)
  if (/[?#]/.test(path))
    throw new RestConfigError(`path "${path}" holds "?" or "#"; declare the query as queryParams`)
  const parts = parseTemplate(path)
  refuseStrayBraces(parts, path)
  if (/%(?![0-9a-fA-F]{2})/.test(path))
    throw new RestConfigError(`path "${path}" holds "%" without two hexadecimal digits after it`)
  for (const segment of path.split('/'))
    if (isDotSegment(segment) || decodesToDots(segment))
      throw new RestConfigError(`path "${path}" holds a "." or ".." segment`)

  return {
    variables: variablesOf(parts),
    render(args) {
      let filled = ''
      for (const part of parts) filled += typeof part === 'string' ? part : segmentValue(part.variable, args)
      return filled
    },
  }
}

function segmentValue(variable: string, args: Args): string {
  const value = argOf(args, variable)
  if (value === undefined || value === null) throw badInput(`Argument "${variable}" is required.`)
  const text = toText(value, variable)
  if (text === '') throw badInput(`Argument "${variable}" must not be empty.`)
  if (!/[^\w-]/.test(text)) return text
  if (holdsDots(text) || decodesToDots(text))
    throw badInput(`Argument "${variable}" must not hold a "." or ".." path segment.`)
  return encodeText(text, variable)
}

function isDotSegment(segment: string): boolean {
  return segment === '.' || segment === '..'
}

/** Servers that take a decoded value for a URL once more also end a segment at `?`, `#` and `;`. */
function holdsDots(text: string): boolean {
  return text.split(/[/\\?#;]/).some(isDotSegment)
}

/** Some servers decode more than once, or decode `%2F` before they resolve dots: look at every stage. */
function decodesToDots(text: string): boolean {
  let current = text
  while (current.includes('%')) {
    const decoded = current.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    )
    if (decoded === current) return false
    if (holdsDots(decoded)) return true
    current = decoded
  }
  return false
}
