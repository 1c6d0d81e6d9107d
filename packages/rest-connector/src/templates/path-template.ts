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
    throw new RestConfigError(`path "${path}" contains "?" or "#"; declare the query in queryParams`)
  const parts = parsePath(path, values)
  if (/%(?![0-9a-fA-F]{2})/.test(path))
    throw new RestConfigError(`path "${path}" contains "%" without two hexadecimal digits after it`)
  if (decodesToDots(path)) throw new RestConfigError(`path "${path}" contains a "." or ".." segment`)

  const isStyled = values.size > 0
  return {
    variables: variablesOf(parts),
    render(args) {
      let filled = ''
      for (const part of parts) filled += typeof part === 'string' ? part : valueOf(part, args)
      // A style may put dots of its own before a value.
      if (isStyled && /(?:^|\/)\.{1,2}(?:\/|$)/.test(filled))
        throw badInput('Path arguments must not produce a "." or ".." path segment.')
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
      `path "${path}" does not contain {${[...unused].join('}, {')}}; add each declared path parameter to the path`,
    )
  return parts
}

/** Servers refuse longer URLs. */
const MAX_VALUE_LENGTH = 65_536

function valueOf({ variable, write }: PathValue, args: Args): string {
  const value = argOf(args, variable)
  if (value === undefined || value === null) throw badInput(`Argument "${variable}" is required.`)
  const text = write ? write(value) : toText(value, variable)
  if (text === undefined || text === '') throw badInput(`Argument "${variable}" must not be empty.`)
  if (text.length > MAX_VALUE_LENGTH)
    throw badInput(`The path argument "${variable}" must be at most ${MAX_VALUE_LENGTH} characters long.`)
  if (!write && !/[^\w-]/.test(text)) return text
  // What a style has written is what was given once it is decoded.
  const given = write ? decodeURIComponent(text) : text
  if (decodesToDots(given))
    throw badInput(`Argument "${variable}" must not contain a "." or ".." path segment.`)
  return write ? text : encodeText(text, variable)
}

/** Some servers that decode a value once more also end a segment at `?`, `#` and `;`. */
const DOT_SEGMENT = /(?:^|[/\\?#;])\.{1,2}(?:[/\\?#;]|$)/

/**
 * Some servers decode more than once, or decode `%2F` before they resolve dots. Decoding never removes dots or separators,
 * so the fully decoded text shows the dot segments of every round. A hexadecimal digit can complete the triple to its left.
 */
function decodesToDots(text: string): boolean {
  if (!text.includes('%')) return DOT_SEGMENT.test(text)
  const decoded = new Uint16Array(text.length)
  let length = 0
  for (let index = 0; index < text.length; index++) {
    decoded[length++] = text.charCodeAt(index)
    while (length >= 3 && decoded[length - 3] === PERCENT) {
      const byte = hexOf(decoded[length - 2]) * 16 + hexOf(decoded[length - 1])
      if (Number.isNaN(byte)) break
      length -= 2
      decoded[length - 1] = byte
    }
  }
  return DOT_SEGMENT.test(Buffer.from(decoded.buffer, 0, length * 2).toString('utf16le'))
}

const PERCENT = 0x25

function hexOf(code = 0): number {
  return Number.parseInt(String.fromCharCode(code), 16)
}
