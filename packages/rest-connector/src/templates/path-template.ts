import { badInput, RestConfigError } from '../errors.ts'
import {
  argOf,
  encodeText,
  parseTemplate,
  refuseStrayBraces,
  toText,
  variablesOf,
  type Args,
  type Template,
} from './template.ts'

/** Writes one variable of a path, percent-encoded; in a way of its own that gives undefined where there is nothing to write. */
export interface PathValue {
  /** The argument that holds the value. */
  readonly variable: string
  /** Undefined: its text is percent-encoded. */
  readonly write?: (value: unknown) => string | undefined
}

/**
 * Compiles `/users/{id}`. A value can never leave its segment: it is percent-encoded, and one that is, or that any
 * number of decodings turns into, a path of its own with `.` or `..` in it is refused. It starts with `/` unless it is empty.
 */
export function compilePath(path: string, values: ReadonlyMap<string, PathValue>): Template {
  if (path !== '' && !path.startsWith('/')) throw new RestConfigError(`path "${path}" must start with "/"`)
  if (/[?#]/.test(path))
    throw new RestConfigError(`path "${path}" holds "?" or "#"; declare the query as queryParams`)
  const parts = parsePath(path, values)
  if (/%(?![0-9a-fA-F]{2})/.test(path))
    throw new RestConfigError(`path "${path}" holds "%" without two hexadecimal digits after it`)
  for (const segment of path.split('/'))
    if (isDotSegment(segment) || decodesToDots(segment))
      throw new RestConfigError(`path "${path}" holds a "." or ".." segment`)

  const isStyled = values.size > 0
  return {
    variables: variablesOf(parts),
    render(args) {
      let filled = ''
      for (const part of parts) filled += typeof part === 'string' ? part : valueOf(part, args)
      // A style may put dots of its own before a value.
      if (isStyled && filled.split('/').some(isDotSegment))
        throw badInput('An argument of the path must not make a "." or ".." path segment.')
      return filled
    },
  }
}

/** `{user-id}` is a variable where it is declared as one, whatever it is called. */
function parsePath(path: string, values: ReadonlyMap<string, PathValue>): (string | PathValue)[] {
  const unused = new Set(values.keys())
  const parts = path.split(/\{([^{}]+)\}/).flatMap((text, index) => {
    const value = index % 2 === 1 ? values.get(text) : undefined
    if (value) {
      unused.delete(text)
      return [value]
    }
    const template = index % 2 === 1 ? `{${text}}` : text
    const plain = parseTemplate(template)
    refuseStrayBraces(plain, template)
    return plain
  })
  if (unused.size > 0)
    throw new RestConfigError(
      `path "${path}" has no place for {${[...unused].join('}, {')}}; add it to the path`,
    )
  return parts
}

function valueOf({ variable, write }: PathValue, args: Args): string {
  const value = argOf(args, variable)
  if (value === undefined || value === null) throw badInput(`Argument "${variable}" is required.`)
  const text = write ? write(value) : toText(value, variable)
  if (text === undefined || text === '') throw badInput(`Argument "${variable}" must not be empty.`)
  if (!write && !/[^\w-]/.test(text)) return text
  // What a style has written is what was given once it is decoded.
  const given = write ? decodeURIComponent(text) : text
  if (holdsDots(given) || decodesToDots(given))
    throw badInput(`Argument "${variable}" must not hold a "." or ".." path segment.`)
  return write ? text : encodeText(text, variable)
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
