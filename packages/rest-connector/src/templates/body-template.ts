import { RestConfigError } from '../errors.ts'
import { toJson } from '../json.ts'
import { pairsOf } from './query-template.ts'
import {
  argOf,
  parseTemplate,
  toText,
  variablesOf,
  type Args,
  type Template,
  type TemplatePart,
} from './template.ts'

/** A body for the content type: JSON and forms know their own syntax, plain text has none. */
export function compileBody(template: string, contentType: string): Template {
  const mediaType = mediaTypeOf(contentType)
  if (mediaType === 'application/json' || mediaType.endsWith('+json')) return compileJsonBody(template)
  if (mediaType === 'application/x-www-form-urlencoded') return compileFormBody(template)
  if (mediaType === 'text/plain') return compileTextBody(template)
  throw new RestConfigError(
    `bodyTemplate does not support content type "${contentType}", because values cannot be escaped safely; ` +
      `use application/json, application/x-www-form-urlencoded or text/plain, or set the body in an interceptor`,
  )
}

/** The body of an endpoint without a template: all its arguments that have no other place in the request. */
export function argsBody(contentType: string, placed: ReadonlySet<string>): Template {
  const mediaType = mediaTypeOf(contentType)
  const isForm = mediaType === 'application/x-www-form-urlencoded'
  if (!isForm && mediaType !== 'application/json' && !mediaType.endsWith('+json'))
    throw new RestConfigError(`content type "${contentType}" needs the option body or bodyTemplate`)
  return {
    variables: [],
    render(args) {
      const sent = Object.fromEntries(
        Object.entries(args).filter(([name, value]) => value !== undefined && !placed.has(name)),
      )
      if (!isForm) return toJson(sent)
      const fields = Object.keys(sent).map((variable) => ({ name: variable, parts: [{ variable }] }))
      return formOf(fields, sent)
    },
  }
}

export function mediaTypeOf(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase()
}

/** Media types of `application`, `image` and others whose bytes are text all the same. */
const TEXTUAL =
  /^text\/|[/+](?:xml|yaml|json-seq)$|^application\/(?:x-)?(?:yaml|ndjson|jsonl|jsonlines|json-lines|csv|graphql|javascript|ecmascript|sql|toml|pem-file|www-form-urlencoded)$/

/** Whether a body of a media type, which is not JSON, is text. */
export function isTextual(mediaType: string): boolean {
  return TEXTUAL.test(mediaType)
}

interface JsonPart {
  readonly variable: string
  /** `value`: stands alone; `whole`: is all of a string literal; `inside`: is a part of one. */
  readonly where: 'value' | 'whole' | 'inside'
}

/**
 * A `{variable}` inside a string literal becomes string content, a bare one a JSON value. One that is the whole of a
 * literal and has no value becomes `null`, so that an absent argument is never sent as an empty string.
 */
function compileJsonBody(template: string): Template {
  const parts: (string | JsonPart)[] = []
  let inString = false
  const raw = parseTemplate(template)
  for (const [index, part] of raw.entries()) {
    if (typeof part === 'string') {
      parts.push(part)
      inString = endsInString(part, inString)
      continue
    }
    if (!inString) {
      parts.push({ variable: part.variable, where: 'value' })
      continue
    }
    const before = parts.at(-1)
    const after = raw[index + 1]
    // A quote that a backslash escapes opens no literal.
    const opens = typeof before === 'string' && before.endsWith('"') && !before.endsWith('\\"')
    const whole = opens && typeof after === 'string' && after.startsWith('"')
    if (whole) {
      parts[parts.length - 1] = before.slice(0, -1)
      raw[index + 1] = after.slice(1)
      inString = false
    }
    parts.push({ variable: part.variable, where: whole ? 'whole' : 'inside' })
  }
  checkJson(parts, template)
  return {
    variables: variablesOf(raw),
    render(args) {
      let body = ''
      for (const part of parts) body += typeof part === 'string' ? part : jsonValue(part, args)
      return body
    },
  }
}

function jsonValue({ variable, where }: JsonPart, args: Args): string {
  const value = argOf(args, variable)
  const absent = value === undefined || value === null
  switch (where) {
    case 'value':
      return absent ? 'null' : toJson(value)
    case 'whole':
      return absent ? 'null' : JSON.stringify(toText(value, variable))
    case 'inside':
      return absent ? '' : JSON.stringify(toText(value, variable)).slice(1, -1)
  }
}

function endsInString(text: string, startsInString: boolean): boolean {
  let inString = startsInString
  for (let index = 0; index < text.length; index++) {
    if (inString && text[index] === '\\') index++
    else if (text[index] === '"') inString = !inString
  }
  return inString
}

function checkJson(parts: readonly (string | JsonPart)[], template: string): void {
  const sample = parts
    .map((part) => (typeof part === 'string' ? part : part.where === 'inside' ? 'x' : 'null'))
    .join('')
  try {
    JSON.parse(sample)
  } catch (cause) {
    throw new RestConfigError(
      `bodyTemplate is not valid JSON after its variables are replaced: ${template} (${(cause as Error).message})`,
      { cause },
    )
  }
}

function compileFormBody(template: string): Template {
  const fields = template.split('&').map((pair) => {
    const equals = pair.indexOf('=')
    const name = equals < 0 ? pair : pair.slice(0, equals)
    const parts: TemplatePart[] = parseTemplate(equals < 0 ? '' : pair.slice(equals + 1)).map((part) =>
      typeof part === 'string' ? decodeForm(part) : part,
    )
    return { name: decodeForm(name), parts }
  })
  return {
    variables: fields.flatMap(({ parts }) => variablesOf(parts)),
    render: (args) => formOf(fields, args),
  }
}

interface FormField {
  readonly name: string
  readonly parts: readonly TemplatePart[]
}

function formOf(fields: readonly FormField[], args: Args): string {
  const pairs = fields.flatMap(({ name, parts }) => pairsOf(name, parts, args, 'repeat'))
  return new URLSearchParams(pairs.map(([key, value]): [string, string] => [key, value])).toString()
}

function decodeForm(text: string): string {
  return new URLSearchParams(`x=${text}`).get('x') ?? ''
}

function compileTextBody(template: string): Template {
  const parts = parseTemplate(template)
  return {
    variables: variablesOf(parts),
    render: (args) =>
      parts
        .map((part) => {
          if (typeof part === 'string') return part
          const value = argOf(args, part.variable)
          return value === undefined || value === null ? '' : toText(value, part.variable)
        })
        .join(''),
  }
}
