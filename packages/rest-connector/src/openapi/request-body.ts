import type { BodyOptions } from '../bodies/body-options.ts'
import type { ArgumentDefinition } from '../declare/arguments.ts'
import type { HttpMethod } from '../http/http-method.ts'
import type { ParameterPlace, StyleOptions } from '../parameters/parameter-options.ts'
import { hasStyle } from '../parameters/style.ts'
import { isTextual, mediaTypeOf } from '../templates/body-template.ts'
import type { OpenApiFinding } from './findings.ts'
import { asNode, asText, type Node, type OpenApiDocument } from './openapi-document.ts'
import { fileKindOf, isBinary } from './types/leaves/scalars.ts'
import type { ArgumentHints, SchemaTypes } from './types/schema-types.ts'
import type { Place } from './types/type-names.ts'

/** The settings that the parameters of an operation are read with. */
export interface TypeSettings {
  readonly document: OpenApiDocument
  readonly types: SchemaTypes
  /** The operation's. */
  readonly place: Place
}

/** A body and the argument that is sent as it. */
export interface RequestBody {
  readonly argument: ArgumentDefinition
  readonly body: BodyOptions
  /** The document says this of it, which is not sent, or sent otherwise. */
  readonly told: readonly Pick<OpenApiFinding, 'message' | 'mend'>[]
}

/** Why an operation has no body that its document describes. */
export interface BodyFault {
  readonly fault: string
  readonly isRequired: boolean
}

type BodyKind = 'json' | 'form' | 'multipart' | 'text' | 'binary'

/** The media types of JSON and forms; those that a client can write best come first. */
const PREFERENCE: readonly [RegExp, BodyKind][] = [
  [/^application\/json$/, 'json'],
  [/^[^/]+\/(?:json|.+\+json)$/, 'json'],
  [/^(?:\*|application)\/\*$/, 'json'],
  [/^application\/x-www-form-urlencoded$/, 'form'],
  [/^multipart\//, 'multipart'],
]

/** The body of an operation; undefined: it has none. */
export function requestBodyOf(
  node: Node,
  method: HttpMethod,
  settings: TypeSettings,
): RequestBody | BodyFault | undefined {
  const { document } = settings
  const content = Object.entries(document.resolve(node['content']))
  if (Object.keys(node).length === 0 || content.length === 0) return undefined
  const isRequired = node['required'] === true
  if (method === 'GET') return { fault: 'a request body is not supported in a GET operation', isRequired }
  const chosen = choose(content)
  if (!chosen) {
    const types = content.map(([type]) => type).join(', ')
    return { fault: `the request body (${types}) has an unsupported media type`, isRequired }
  }
  const { kind, contentType } = chosen
  const media = document.resolve(chosen.media)
  const description = asText(node['description'])
  const encoding = kind === 'form' || kind === 'multipart' ? encodingOf(media, document) : {}
  return {
    told: [...otherBodies(content, chosen, settings), ...unsentOf(media, kind, settings)],
    // A default that were sent would overwrite what a PATCH leaves alone.
    argument: argumentOf(kind, media, { isRequired, description, tellsDefault: true }, settings),
    body: {
      ...(contentType !== 'application/json' && { contentType }),
      ...(kind === 'binary' && isBase64(media['schema'], document) && { isBase64: true }),
      ...(Object.keys(encoding).length > 0 && { encoding }),
    },
  }
}

/**
 * Returns the kind of any other media type: text where it can be, else bytes; undefined for a pattern of
 * several types, which cannot be sent.
 */
function otherKindOf(mediaType: string): BodyKind | undefined {
  if (!/^[^/*]+\/[^/*]+$/.test(mediaType)) return undefined
  return isTextual(mediaType) ? 'text' : 'binary'
}

function choose(
  content: readonly (readonly [string, unknown])[],
): { readonly kind: BodyKind; readonly contentType: string; readonly media: unknown } | undefined {
  for (const [pattern, kind] of PREFERENCE)
    for (const [given, media] of content) {
      const mediaType = mediaTypeOf(given)
      if (!pattern.test(mediaType)) continue
      const contentType = mediaType.endsWith('/*')
        ? 'application/json'
        : kind === 'multipart'
          ? mediaType
          : given
      return { kind, contentType, media }
    }
  for (const wanted of ['text', 'binary'] as const)
    for (const [contentType, media] of content)
      if (otherKindOf(mediaTypeOf(contentType)) === wanted) return { kind: wanted, contentType, media }
  return undefined
}

function argumentOf(
  kind: BodyKind,
  media: Node,
  hints: ArgumentHints,
  { types, place }: TypeSettings,
): ArgumentDefinition {
  const { isRequired, description } = hints
  const fixed = kind === 'text' ? 'String' : kind === 'binary' ? 'Upload' : undefined
  if (fixed !== undefined)
    return { type: isRequired ? `${fixed}!` : fixed, ...(description !== undefined && { description }) }
  return types.argument(media['schema'], place, hints)
}

/** What bodies of other media types have that the chosen one has not. */
function otherBodies(
  content: readonly (readonly [string, unknown])[],
  chosen: { readonly contentType: string; readonly media: unknown },
  { document, types }: TypeSettings,
): RequestBody['told'] {
  const membersOf = (media: unknown): readonly string[] => types.membersOf(document.resolve(media)['schema'])
  const own = new Set(membersOf(chosen.media))
  return content.flatMap(([contentType, media]) => {
    const more = media === chosen.media ? [] : membersOf(media).filter((one) => !own.has(one))
    if (more.length === 0) return []
    return {
      message: `the ${contentType} body has the properties ${more.map((one) => `"${one}"`).join(', ')}, but the body is sent as ${chosen.contentType}, whose schema does not declare them`,
      mend: `declare the operation under endpoints with body.contentType "${contentType}"`,
    }
  })
}

/** What a document says of a body, or of the parts of one, that is not sent, or sent otherwise. */
function unsentOf(media: Node, kind: BodyKind, { document, types }: TypeSettings): RequestBody['told'] {
  const { schema } = media
  const { contentEncoding } = document.resolve(schema)
  if (kind === 'binary' && fileKindOf({ contentEncoding }) === 'text' && contentEncoding !== 'base64')
    return [
      {
        message: `the body is sent unchanged, because the connector does not apply the contentEncoding "${String(contentEncoding)}"`,
        mend: 'encode the body in the client',
      },
    ]
  if (kind !== 'form' && kind !== 'multipart') return []
  const encoding = document.resolve(media['encoding'])
  const quoted = (names: readonly string[]): string => names.map((one) => `"${one}"`).join(', ')
  const objects = types
    .propertiesWhere(schema, (shape) => ['object', 'map', 'variants'].includes(shape.kind))
    .filter((one) => kind === 'form' && !Object.hasOwn(encoding, one))
  const unspelled = types
    .propertiesWhere(schema, (one) => (one.kind === 'any' || one.type === 'string') && !fileKindOf(one.node))
    .filter((one) => isBinary(asText(document.resolve(encoding[one])['contentType']) ?? '*/*'))
  const encodings = Object.entries(encoding)
  const named = encodings.flatMap(([name, given]): readonly string[] => {
    const { headers, style } = document.resolve(given)
    const sent = Object.keys(asNode(headers)).filter((header) => header.toLowerCase() !== 'content-type')
    const isWrong = asText(style) !== undefined && !hasStyle(asText(style) as string, 'query')
    return [
      ...(sent.length > 0
        ? [`the property "${name}" of the body is sent without the headers ${sent.join(', ')}`]
        : []),
      ...(isWrong
        ? [
            `the property "${name}" of the body is sent in the default style, because forms do not support the style "${String(style)}"`,
          ]
        : []),
    ]
  })
  const unnamed = ['prefixEncoding', 'itemEncoding'].filter((one) => media[one] !== undefined)
  return [
    ...(objects.length > 0
      ? [
          {
            message: `the form contains ${quoted(objects)} as JSON text, because the document declares no other encoding`,
            mend: 'if the API expects bracket notation (a[b]=1), add encoding: { …: { style: deepObject } } next to the schema',
          },
        ]
      : []),
    ...unspelled.map((one) => ({
      message: `the part "${one}" of the body is sent as text, because the file is declared only in the encoding of the part`,
      mend: 'add contentMediaType or format: binary to the schema of the part',
    })),
    ...named.map((message) => ({
      message,
      mend: 'if the API does not accept this body, set the body in an interceptor',
    })),
    ...unnamed.map((one) => ({
      message: `the ${one} of the body is not supported, so the parts are sent with default encodings`,
    })),
  ]
}

/** Whether the bytes of a file are written as text. */
function isBase64(schema: unknown, document: OpenApiDocument): boolean {
  const { format, contentEncoding } = document.resolve(schema)
  return format === 'byte' || format === 'base64' || contentEncoding === 'base64'
}

function encodingOf(media: Node, document: OpenApiDocument): NonNullable<BodyOptions['encoding']> {
  return Object.fromEntries(
    Object.entries(document.resolve(media['encoding'])).map(([name, given]) => {
      const node = document.resolve(given)
      const contentType = asText(node['contentType'])
      return [name, { ...styleIn(node, 'query'), ...(contentType !== undefined && { contentType }) }]
    }),
  )
}

/** How a value is written; a style that the place does not have is taken for its default one, as other readers do. */
export function styleIn(node: Node, place: ParameterPlace): StyleOptions {
  const style = asText(node['style'])
  return {
    ...(style !== undefined && hasStyle(style, place) && { style }),
    ...(typeof node['explode'] === 'boolean' && { explode: node['explode'] }),
    ...(node['allowReserved'] === true && { allowReserved: true }),
  }
}
