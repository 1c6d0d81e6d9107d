import type { BodyOptions } from '../bodies/body-options.ts'
import type { ArgumentDefinition } from '../declare/arguments.ts'
import type { RestEndpoint } from '../declare/endpoint-options.ts'
import { RestConfigError } from '../errors.ts'
import type { HttpMethod } from '../http/http-method.ts'
import { compileParameters, OTHER_HEADERS } from '../parameters/compile-parameters.ts'
import type { ParameterOptions, ParameterPlace, StyleOptions } from '../parameters/parameter-options.ts'
import { hasStyle } from '../parameters/style.ts'
import { isTextual, mediaTypeOf } from '../templates/body-template.ts'
import type { OpenApiFinding } from './findings.ts'
import { freeName, isName, pascal, toFieldName } from './names.ts'
import { asList, asNode, asText, type Node, type OpenApiDocument } from './openapi-document.ts'
import { spoken } from './operation-names.ts'
import type { ReadOperation } from './operations.ts'
import { fileKindOf, isBinary } from './types/scalars.ts'
import type { SchemaTypes } from './types/schema-types.ts'
import { inside, sharedPlace, type Place } from './types/type-names.ts'

type Told = Omit<OpenApiFinding, 'place'>

/** How an operation takes its input. */
export interface RequestInput {
  readonly endpoint: Pick<RestEndpoint, 'path' | 'args' | 'parameters' | 'body' | 'bodyTemplate'>
  /** The parts of the request that are not sent, or not as the document declares them. */
  readonly told: readonly Told[]
}

/** The settings that the parameters and the body of an operation are read with. */
interface TypeSettings {
  readonly document: OpenApiDocument
  readonly types: SchemaTypes
  /** The operation's. */
  readonly place: Place
}

/** A body and the argument that is sent as it. */
interface RequestBody extends Pick<RequestInput, 'told'> {
  readonly argument: ArgumentDefinition
  readonly body: BodyOptions
}

const QUERY_FORM = 'application/x-www-form-urlencoded'

/**
 * Returns the arguments, the parameters and the body of an operation as an endpoint declares them.
 * @throws RestConfigError if a required part of the request cannot be sent
 */
export function requestInputOf(
  field: string,
  template: string,
  { method, pathItem, node: operation }: ReadOperation,
  settings: TypeSettings,
): RequestInput {
  const args: Record<string, ArgumentDefinition> = {}
  const parameters: ParameterOptions[] = []
  const dropped: string[] = []
  const told: Told[] = []
  const addArgument = (name: string, definition: ArgumentDefinition): string => {
    const arg = freeName(toFieldName(name), (one) => Object.hasOwn(args, one))
    args[arg] = definition
    return arg
  }
  const places = new Map(parametersOf(template, pathItem, operation, settings))
  const described = [...places.keys()]
  const { path, undescribed } = plainPath(
    template,
    described.filter((node) => node['in'] === 'path').map((node) => asText(node['name'])),
  )
  const nodes = [
    ...described,
    ...undescribed.map((name): Node => ({ name, in: 'path', schema: { type: 'string' } })),
  ]
  for (const node of nodes) {
    const parameter = parameterOf(node, path)
    if (!parameter) {
      if (node['in'] === 'path')
        told.push({
          message: `the path parameter "${asText(node['name'])}" is ignored, because the path does not contain it`,
        })
      continue
    }
    const fault = typeof parameter === 'string' ? parameter : faultOf(parameter)
    if (fault !== undefined && node['required'] !== true && node['in'] !== 'path') {
      dropped.push(fault)
      continue
    }
    if (typeof parameter === 'string') throw new RestConfigError(parameter)
    const style = asText(node['style'])
    if (style !== undefined && parameter.style === undefined)
      told.push({
        message: `the parameter "${parameter.name}" is sent in the default style, because ${parameter.in} parameters do not support the style "${style}"`,
        fix: 'if the API needs this style, send the parameter with an interceptor',
      })
    const arg = addArgument(parameter.name, argumentOf(node, parameter, settings, places.get(node)))
    parameters.push({ ...parameter, ...(arg !== parameter.name && { arg }) })
  }
  const { node: requestBody, ref } = settings.document.follow(asNode(operation['requestBody']))
  const place = sharedPlace(ref, settings.place)
  const body = requestBodyOf(requestBody, method, { ...settings, place })
  if (typeof body === 'string' && requestBody['required'] === true) throw new RestConfigError(body)
  if (typeof body === 'string') dropped.push(body)
  const found = typeof body === 'string' ? undefined : body
  const arg = found && addArgument('input', found.argument)
  return {
    told: [
      ...dropped.map((message) => ({
        message: `${message}; the field "${field}" has no argument for this part of the request`,
      })),
      ...told,
      ...(found?.told ?? []),
    ],
    endpoint: {
      path,
      args,
      ...(parameters.length > 0 && { parameters }),
      ...(found && { body: { ...found.body, ...(arg !== 'input' && { arg }) } }),
      // Without one in the document there is none on the wire.
      ...(!found && method !== 'GET' && { bodyTemplate: false as const }),
    },
  }
}

/**
 * A path with bare names in its braces: frameworks add how a value is matched (`{rest+}`, `{*rest}`, `{id:int}`). Those that
 * no parameter describes and that are no names of arguments need one that has such a name.
 */
function plainPath(
  template: string,
  names: readonly (string | undefined)[],
): { readonly path: string; readonly undescribed: readonly string[] } {
  const undescribed = new Set<string>()
  const path = template.replace(/\{([^{}]*)\}/g, (whole, text: string) => {
    if (names.includes(text)) return whole
    const bare = text.replace(/:.*$/s, '').replaceAll(/^[\s*+]+|(?<![\s*+?])[\s*+?]+$/g, '')
    if (bare === '') return whole
    if (!names.includes(bare) && !isName(bare)) undescribed.add(bare)
    return `{${bare}}`
  })
  return { path, undescribed: [...undescribed] }
}

/**
 * Returns the parameters of the path and of the operation, the latter replacing the path's by place and name; and where each
 * stands: types of what operations share are called by that, as other operations may come before this one.
 */
function parametersOf(
  path: string,
  pathItem: Node,
  operation: Node,
  { document, place }: TypeSettings,
): Iterable<readonly [Node, Place]> {
  const all = new Map<string, readonly [Node, Place]>()
  const ofPath = { name: pascal(spoken(path)), key: path }
  for (const [owner, at] of [
    [pathItem, ofPath],
    [operation, place],
  ] as const)
    for (const one of asList(document.resolve(owner['parameters']))) {
      const { node, ref } = document.follow(one)
      const content = node['content']
      const parameter: Node = {
        ...node,
        ...(content !== undefined && { content: document.resolve(content) }),
      }
      const name = asText(parameter['name']) ?? ''
      const own = { name: `${at.name}${pascal(name)}`, key: `${at.key}/${name}` }
      all.set(`${asText(parameter['in'])} ${name}`, [parameter, sharedPlace(ref, own)])
    }
  return all.values()
}

/** How a parameter is written; undefined: it has no place in the request; text: why it cannot be sent. */
function parameterOf(node: Node, path: string): ParameterOptions | string | undefined {
  const name = asText(node['name']) ?? ''
  const place = node['in']
  // The members of a form that is the whole query are parameters of it.
  if (place === 'querystring' && QUERY_FORM in asNode(node['content'])) return { name, in: 'query' }
  if (place !== 'path' && place !== 'query' && place !== 'header' && place !== 'cookie')
    return `the parameter "${name}" is in ${JSON.stringify(place)}, which is not supported`
  if (place === 'header' && OTHER_HEADERS.has(name.toLowerCase())) return undefined
  if (place === 'path' && !path.includes(`{${name}}`)) return undefined
  const [content] = Object.keys(asNode(node['content']))
  return {
    name,
    in: place,
    ...(content !== undefined && { content }),
    ...styleIn(node, place),
  }
}

/** Why no request can hold the parameter. */
function faultOf(parameter: ParameterOptions): string | undefined {
  try {
    compileParameters([parameter])
    return undefined
  } catch (error) {
    if (error instanceof RestConfigError) return error.message
    throw error
  }
}

function argumentOf(
  node: Node,
  { in: place, name }: ParameterOptions,
  settings: TypeSettings,
  own: Place = inside(settings.place, name, name),
): ArgumentDefinition {
  const [content] = Object.values(asNode(node['content']))
  const schema = content === undefined ? node['schema'] : settings.document.resolve(content)['schema']
  return settings.types.argument(schema, own, {
    isRequired: place === 'path' || node['required'] === true,
    description: asText(node['description']),
    isDeprecated: node['deprecated'] === true,
  })
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

/** Returns the body of an operation, undefined if it has none, or the reason why it cannot be sent. */
function requestBodyOf(
  node: Node,
  method: HttpMethod,
  settings: TypeSettings,
): RequestBody | string | undefined {
  const { document } = settings
  const content = Object.entries(document.resolve(node['content']))
  if (content.length === 0) return undefined
  if (method === 'GET') return 'a request body is not supported in a GET operation'
  const chosen = choose(content)
  if (!chosen) {
    const types = content.map(([type]) => type).join(', ')
    return `the request body (${types}) has an unsupported media type`
  }
  const { kind, contentType } = chosen
  const media = document.resolve(chosen.media)
  const encoding = kind === 'form' || kind === 'multipart' ? encodingOf(media, document) : {}
  return {
    told: [...otherBodies(content, chosen, settings), ...unsentOf(media, kind, settings)],
    argument: bodyArgumentOf(kind, media, node, settings),
    body: {
      ...(contentType !== 'application/json' && { contentType }),
      ...(kind === 'binary' && isBase64(media['schema'], document) && { isBase64: true }),
      ...(Object.keys(encoding).length > 0 && { encoding }),
    },
  }
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
  // A pattern of several types cannot be sent.
  const others = content.filter(([given]) => /^[^/*]+\/[^/*]+$/.test(mediaTypeOf(given)))
  const text = others.find(([given]) => isTextual(mediaTypeOf(given)))
  const [contentType, media] = text ?? others[0] ?? []
  return contentType === undefined ? undefined : { kind: text ? 'text' : 'binary', contentType, media }
}

function bodyArgumentOf(
  kind: BodyKind,
  media: Node,
  { required, description: given }: Node,
  { types, place }: TypeSettings,
): ArgumentDefinition {
  const isRequired = required === true
  const description = asText(given)
  if (kind !== 'text' && kind !== 'binary')
    // Sending a default in a PATCH would overwrite a property that the client did not set.
    return types.argument(media['schema'], place, { isRequired, description, tellsDefault: true })
  const type = kind === 'text' ? 'String' : 'Upload'
  return { type: isRequired ? `${type}!` : type, ...(description !== undefined && { description }) }
}

/** What bodies of other media types have that the chosen one has not. */
function otherBodies(
  content: readonly (readonly [string, unknown])[],
  chosen: { readonly contentType: string; readonly media: unknown },
  { document, types }: TypeSettings,
): readonly Told[] {
  const membersOf = (media: unknown): readonly string[] => types.membersOf(document.resolve(media)['schema'])
  const own = new Set(membersOf(chosen.media))
  return content.flatMap(([contentType, media]) => {
    const more = media === chosen.media ? [] : membersOf(media).filter((one) => !own.has(one))
    if (more.length === 0) return []
    return {
      message: `the ${contentType} body has the properties ${quoted(more)}, but the body is sent as ${chosen.contentType}, whose schema does not declare them`,
      fix: `declare the operation under endpoints with body.contentType "${contentType}"`,
    }
  })
}

/** What a document says of a body, or of the parts of one, that is not sent, or sent otherwise. */
function unsentOf(media: Node, kind: BodyKind, { document, types }: TypeSettings): readonly Told[] {
  const { schema } = media
  const { contentEncoding } = document.resolve(schema)
  if (kind === 'binary' && fileKindOf({ contentEncoding }) === 'text' && contentEncoding !== 'base64')
    return [
      {
        message: `the body is sent unchanged, because the connector does not apply the contentEncoding "${String(contentEncoding)}"`,
        fix: 'encode the body in the client',
      },
    ]
  if (kind !== 'form' && kind !== 'multipart') return []
  const encoding = document.resolve(media['encoding'])
  const told: Told[] = []
  const objects = types
    .propertiesWhere(schema, (shape) => ['object', 'map', 'variants'].includes(shape.kind))
    .filter((one) => kind === 'form' && !Object.hasOwn(encoding, one))
  if (objects.length > 0)
    told.push({
      message: `the form contains ${quoted(objects)} as JSON text, because the document declares no other encoding`,
      fix: 'if the API expects bracket notation (a[b]=1), add encoding: { …: { style: deepObject } } next to the schema',
    })
  const texts = types.propertiesWhere(
    schema,
    (one) => (one.kind === 'any' || one.type === 'string') && !fileKindOf(one.node),
  )
  for (const one of texts)
    if (isBinary(asText(document.resolve(encoding[one])['contentType']) ?? '*/*'))
      told.push({
        message: `the part "${one}" of the body is sent as text, because the file is declared only in the encoding of the part`,
        fix: 'add contentMediaType or format: binary to the schema of the part',
      })
  const fix = 'if the API does not accept this body, set the body in an interceptor'
  for (const [name, given] of Object.entries(encoding)) {
    const { headers, style } = document.resolve(given)
    const unsent = Object.keys(asNode(headers)).filter((header) => header.toLowerCase() !== 'content-type')
    if (unsent.length > 0)
      told.push({
        message: `the headers ${unsent.join(', ')} of the property "${name}" are not sent, because the connector does not support headers of single properties`,
        fix,
      })
    if (typeof style === 'string' && !hasStyle(style, 'query'))
      told.push({
        message: `the property "${name}" of the body is sent in the default style, because forms do not support the style "${style}"`,
        fix,
      })
  }
  for (const one of ['prefixEncoding', 'itemEncoding'])
    if (media[one] !== undefined)
      told.push({
        message: `the ${one} of the body is not supported, so the parts are sent with default encodings`,
      })
  return told
}

function quoted(names: readonly string[]): string {
  return names.map((one) => `"${one}"`).join(', ')
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
function styleIn(node: Node, place: ParameterPlace): StyleOptions {
  const style = asText(node['style'])
  return {
    ...(style !== undefined && hasStyle(style, place) && { style }),
    ...(typeof node['explode'] === 'boolean' && { explode: node['explode'] }),
    ...(node['allowReserved'] === true && { allowReserved: true }),
  }
}
