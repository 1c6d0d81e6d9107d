import type { ScalarDefinition } from '../../declare/type-definitions.ts'
import { isTextual, mediaTypeOf } from '../../templates/body-template.ts'
import { asList, asText, type Node } from '../openapi-document.ts'

/** How integers without a format are typed. */
export type IntegerTyping = 'auto' | 'int' | 'long'

/** Formats of text that have a scalar of their own. */
export const FORMAT_SCALARS: Readonly<Record<string, ScalarDefinition>> = {
  DateTime: {
    kind: 'scalar',
    description: 'A point in time, RFC 3339: `2026-01-31T12:00:00Z`.',
    pattern: '^\\d{4}-\\d\\d-\\d\\d[Tt ]\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?([Zz]|[+-]\\d\\d:?\\d\\d)?$',
    specifiedBy: 'https://www.rfc-editor.org/rfc/rfc3339',
  },
  Date: {
    kind: 'scalar',
    description: 'A date, RFC 3339: `2026-01-31`.',
    pattern: '^\\d{4}-\\d\\d-\\d\\d$',
    specifiedBy: 'https://www.rfc-editor.org/rfc/rfc3339',
  },
  UUID: {
    kind: 'scalar',
    description: 'A UUID: `2b6ae4e2-9a4c-4d4e-8f7b-0a5d3c9e1f00`.',
    pattern: '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$',
    specifiedBy: 'https://www.rfc-editor.org/rfc/rfc9562',
  },
  URI: { kind: 'scalar', description: 'A URI.', specifiedBy: 'https://www.rfc-editor.org/rfc/rfc3986' },
  EmailAddress: { kind: 'scalar', description: 'An email address.', pattern: '@' },
  Base64: {
    kind: 'scalar',
    description: 'Binary data as base64 text.',
    pattern: '^[A-Za-z0-9+/_-]*={0,2}$',
    specifiedBy: 'https://www.rfc-editor.org/rfc/rfc4648',
  },
}

const TEXT_FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'DateTime',
  date: 'Date',
  uuid: 'UUID',
  uri: 'URI',
  url: 'URI',
  email: 'EmailAddress',
  byte: 'Base64',
}

/** Formats of the OpenAPI registry whose values all fit 32 bits, with a sign. */
const SMALL = new Set(['int8', 'int16', 'int32', 'uint8', 'uint16'])

const MAX_INT = 2 ** 31 - 1
const MIN_INT = -(2 ** 31)

/** The scalar of a schema that is one. */
export function scalarOf(type: string | undefined, node: Node, integers: IntegerTyping): string {
  const format = asText(node['format'])
  switch (type) {
    case 'boolean':
      return 'Boolean'
    case 'integer':
      return integerOf(format, node, integers)
    case 'number':
      return format === 'int64' ? 'Long' : format !== undefined && SMALL.has(format) ? 'Int' : 'Float'
    case 'string':
      return (format !== undefined && Object.hasOwn(TEXT_FORMATS, format) && TEXT_FORMATS[format]) || 'String'
    default:
      return 'JSON'
  }
}

/** Returns `Int` for what is known to fit 32 bits, else the 64-bit integer, whose digits nobody loses. */
function integerOf(format: string | undefined, node: Node, integers: IntegerTyping): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, example, default: given } = node
  const bounds = [minimum, maximum, exclusiveMinimum, exclusiveMaximum]
  const shown = [...bounds, example, given, ...asList(node['examples'])].filter(
    (one) => typeof one === 'number',
  )
  if (format === 'int64' || shown.some((one) => one > MAX_INT || one < MIN_INT)) return 'Long'
  if ((format !== undefined && SMALL.has(format)) || integers === 'int') return 'Int'
  const isBounded = typeof maximum === 'number' || typeof exclusiveMaximum === 'number'
  return integers === 'auto' && isBounded ? 'Int' : 'Long'
}

/** How a file is spelled that a schema describes: as it is, or encoded as text; undefined: it is no file. */
export function fileKindOf(node: Node): 'bytes' | 'text' | undefined {
  const { type, format, contentMediaType, contentEncoding = 'binary' } = node
  const isEncoded = !/^(?:binary|[78]bit)$/i.test(String(contentEncoding))
  if (format === 'byte' || format === 'base64' || isEncoded) return 'text'
  const isBytes = type === 'file' || format === 'binary' || isBinary(asText(contentMediaType) ?? '*/*')
  return isBytes ? 'bytes' : undefined
}

/** Whether what has a media type is no text. */
export function isBinary(contentType: string): boolean {
  const mediaType = mediaTypeOf(contentType)
  return !isTextual(mediaType) && !/[/+](?:json|jwt)$|^\*\/\*$/.test(mediaType)
}
