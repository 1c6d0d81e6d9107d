import type { compileResultPath } from '@vinyasa/source-kit'
import { answerShapeOf, type AnswerShape } from './answer-shape.ts'
import { parseArgument, type Argument } from './arguments.ts'
import { argsBody, compileBody, isTextual, mediaTypeOf } from '../templates/body-template.ts'
import { compileEnvelope, type Envelope } from './envelope.ts'
import { atPlace, badInput, RestConfigError } from '../errors.ts'
import { parseTypeReference, SCALARS, type FieldDefinitions, type TypeReference } from './fields.ts'
import { compileHeaders } from '../templates/header-template.ts'
import { ACCEPTED_ENCODINGS } from '../http/decode.ts'
import type { RestEndpoint } from './endpoint-options.ts'
import type { TypeDefinitions } from './type-definitions.ts'
import { compileWireValues } from './wire-values.ts'
import { METHODS, type HttpMethod } from '../http/http-method.ts'
import { compileParameters } from '../parameters/compile-parameters.ts'
import { compilePath } from '../templates/path-template.ts'
import { compileQuery, type NameValues } from '../templates/query-template.ts'
import { compileResponsePath } from '../templates/response-path.ts'
import { argOf, type Args, type Template, toText } from '../templates/template.ts'
import { type Home, parseBaseUrl, type WireRequest } from '../http/transport.ts'
import type { RenderedBody } from '../bodies/wire-body.ts'
import { toJson } from '../json.ts'
import type { BodyOptions } from '../bodies/body-options.ts'
import { inBase64, isFile, toFile } from '../bodies/file.ts'
import { compileForm } from '../bodies/form-body.ts'
import { compileMultipart, streamOf } from '../bodies/multipart-body.ts'

/** The body of a request from one argument; undefined: there is none, and no content type either. */
type Body = Template<RenderedBody | undefined>

/** Chooses once, by the media type, how an argument becomes the body. */
function compileArgumentBody(options: BodyOptions): Body {
  const { arg = 'input' } = options
  const write = writerOf(arg, options)
  return {
    variables: [arg],
    render(args) {
      const value = argOf(args, arg)
      return value === undefined || value === null ? undefined : write(value)
    },
  }
}

function writerOf(
  arg: string,
  { contentType = 'application/json', encoding = {}, isBase64 = false }: BodyOptions,
): (value: unknown) => RenderedBody {
  const mediaType = mediaTypeOf(contentType)
  if (mediaType === '*/*') return (value) => ({ contentType: 'application/json', body: toJson(value) })
  if (!/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(mediaType))
    throw new RestConfigError(`body.contentType "${contentType}" is not a valid media type`)
  if (/[/+]json$/.test(mediaType)) return (value) => ({ contentType, body: toJson(value) })
  if (mediaType === 'application/x-www-form-urlencoded') {
    const form = compileForm(arg, encoding)
    return (value) => ({ contentType, body: form(value) })
  }
  if (mediaType.startsWith('multipart/')) return compileMultipart(arg, mediaType, encoding)
  if (isTextual(mediaType))
    return (value) => ({ contentType, body: isFile(value) ? streamOf([value]) : toText(value, arg) })
  return (value) => {
    const file = toFile(value, arg)
    return { contentType, body: streamOf([isBase64 ? inBase64(file) : file]) }
  }
}

/** An endpoint whose every template was checked and compiled. */
export interface CompiledEndpoint {
  readonly name: string
  readonly declared: RestEndpoint
  readonly method: HttpMethod
  readonly isMutation: boolean
  /** The arguments by name, in the order of their first appearance. */
  readonly args: ReadonlyMap<string, Argument>
  readonly returnType: TypeReference
  readonly shape: AnswerShape
  /** JSON members that make an answer of one object a list of one; empty: it is none. */
  readonly listOfOne: readonly string[]
  /** The object that the field is, where it is more than the answer. */
  readonly envelope: Envelope | undefined
  /** Object types that a response may hold; empty when nothing is declared. */
  readonly types: ReadonlySet<string>
  readonly timeoutMs: number
  /** The server that requests are sent to, if it is not the connector's. */
  readonly home: Home | undefined
  readonly extract: ReturnType<typeof compileResultPath>
  /** The request for these arguments; throws BAD_USER_INPUT for values that cannot be sent. */
  render(args: Args): WireRequest
}

export interface EndpointDefaults {
  readonly basePath: string
  readonly timeoutMs: number
  readonly defaultHeaders: NameValues
  /** The connector's own. */
  readonly types: TypeDefinitions
}

const GRAPHQL_NAME = /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/
const JSON_TYPE = 'application/json'

/** @throws RestConfigError */
export function compileEndpoint(endpoint: RestEndpoint, defaults: EndpointDefaults): CompiledEndpoint {
  const { name, method = 'GET', headers = {}, queryParams = {}, queryArrayFormat = 'repeat' } = endpoint
  const { timeoutMs = defaults.timeoutMs, responsePath, bodyTemplate, asQuery = false } = endpoint
  const { parameters: declared = [], body: bodyOptions, listOfOne = [] } = endpoint
  checkRequest(endpoint, method)
  const takesAllArgs =
    bodyTemplate === undefined && bodyOptions === undefined && method !== 'GET' && method !== 'DELETE'
  const hasBody = takesAllArgs || typeof bodyTemplate === 'string'

  const parameters = compileParameters(declared)
  const path = atPlace(['path'], () => compilePath(endpoint.path, parameters.path))
  const query = compileQuery(queryParams, queryArrayFormat)
  const implicit: NameValues = {
    accept: endpoint.accept ?? 'application/json, */*;q=0.5',
    'accept-encoding': ACCEPTED_ENCODINGS,
    ...(hasBody && { 'content-type': JSON_TYPE }),
  }
  const header = atPlace(['headers'], () => compileHeaders(implicit, defaults.defaultHeaders, headers))
  const contentType = header.render({})['content-type'] ?? JSON_TYPE
  // A value that has its place in the request already, a secret in a header above all, is not sent once more.
  const placed = [...path.variables, ...query.variables, ...header.variables, ...parameters.variables]
  const body: Template | undefined = !hasBody
    ? undefined
    : takesAllArgs
      ? argsBody(contentType, new Set(placed))
      : atPlace(['bodyTemplate'], () => compileBody(bodyTemplate as string, contentType))
  const argumentBody = bodyOptions && atPlace(['body'], () => compileArgumentBody(bodyOptions))

  const args = argumentTypes(endpoint, path.variables, [
    ...query.variables,
    ...header.variables,
    ...parameters.variables,
    ...((body ?? argumentBody)?.variables ?? []),
  ])
  const returnType = returnTypeOf(endpoint)
  const toWire = compileWireValues(args, defaults.types)
  if (!takesAllArgs) refuseUnusedArgs(endpoint, args, [path, query, header, parameters, body ?? argumentBody])
  const { baseUrl } = endpoint
  const home = baseUrl === undefined ? undefined : atPlace(['baseUrl'], () => parseBaseUrl(baseUrl))
  const prefix = home?.basePath ?? defaults.basePath
  const elsewhere = home && { origin: home.base.origin }
  const render = (values: Args): WireRequest => {
    const own = query.render(values)
    const declaredQuery = parameters.query(values)
    const headers = header.render(values)
    const declaredHeaders = parameters.headers(values)
    const rendered = argumentBody?.render(values)
    const separator = declaredQuery === '' ? '' : own === '' ? '?' : '&'
    return {
      method,
      ...elsewhere,
      path: (`${prefix}${path.render(values)}` || '/') + own + separator + declaredQuery,
      headers:
        declaredHeaders || rendered
          ? { ...headers, ...declaredHeaders, ...(rendered && { 'content-type': rendered.contentType }) }
          : headers,
      body: rendered ? rendered.body : body?.render(values),
    }
  }

  return {
    name,
    declared: endpoint,
    method,
    isMutation: method !== 'GET' && !asQuery,
    args,
    returnType,
    shape: answerShapeOf(returnType, endpoint, defaults.types),
    listOfOne,
    envelope: endpoint.envelope && compileEnvelope(name, method, returnType, endpoint.envelope),
    types: typesOf(endpoint, defaults.types),
    timeoutMs,
    home,
    extract:
      responsePath === undefined
        ? (value) => value
        : atPlace(['responsePath'], () => compileResponsePath(responsePath)),
    render(given) {
      const values = withDefaults(given, args)
      checkArgs(values, args, takesAllArgs)
      return render(toWire?.(values) ?? values)
    },
  }
}

/** Refuses a name and a method that are none, and bodies that cannot be sent. */
function checkRequest({ name, bodyTemplate, body }: RestEndpoint, method: HttpMethod): void {
  if (!GRAPHQL_NAME.test(name))
    throw new RestConfigError(
      `name "${name}" is not a valid GraphQL name; use letters, digits and "_", and do not start with a digit or "__"`,
      { path: ['name'] },
    )
  if (!METHODS.includes(method))
    throw new RestConfigError(`method "${String(method)}" is not one of ${METHODS.join(', ')}`, {
      path: ['method'],
    })
  const bodySetting = bodyTemplate ? 'bodyTemplate' : 'body'
  if ((bodyTemplate || body) && method === 'GET')
    throw new RestConfigError(
      `a GET request cannot have a body; remove ${bodySetting} or use another method`,
      {
        path: [bodySetting],
      },
    )
  if (bodyTemplate && body)
    throw new RestConfigError('body and bodyTemplate cannot be combined; remove one of them', {
      path: ['body'],
    })
}

function argumentTypes(
  { args: declared = {} }: RestEndpoint,
  pathVariables: readonly string[],
  otherVariables: readonly string[],
): Map<string, Argument> {
  const types = new Map<string, Argument>()
  for (const name of new Set([...pathVariables, ...otherVariables, ...Object.keys(declared)])) {
    if (!GRAPHQL_NAME.test(name))
      throw new RestConfigError(
        `argument "${name}" is not a valid GraphQL name; use letters, digits and "_", and do not start with a digit or "__"`,
        { path: ['args', name] },
      )
    const definition = Object.hasOwn(declared, name) ? declared[name] : undefined
    const parse = (): Argument => parseArgument(definition ?? 'String')
    const argument = atPlace(['args', name], parse, `argument "${name}"`)
    const isOpen = pathVariables.includes(name) && !argument.isNonNull
    types.set(name, isOpen ? { ...argument, ...parseTypeReference(`${argument.text}!`) } : argument)
  }
  return types
}

function refuseUnusedArgs(
  { name, method = 'GET' }: RestEndpoint,
  args: ReadonlyMap<string, TypeReference>,
  templates: readonly (Pick<Template, 'variables'> | undefined)[],
): void {
  const used = new Set(templates.flatMap((template) => template?.variables ?? []))
  for (const arg of args.keys())
    if (!used.has(arg))
      throw new RestConfigError(
        `argument "${arg}" is declared, but the ${method} request of ${name} does not use it; ` +
          `remove the argument, or use it in path, queryParams, headers, parameters or a body`,
        { path: ['args', arg] },
      )
}

/** GraphQL has put in those that its schema shows; calls without it have none. */
function withDefaults(given: Args, args: ReadonlyMap<string, Argument>): Args {
  let values = given
  for (const [name, { default: value }] of args)
    if (value !== undefined && argOf(given, name) === undefined) values = { ...values, [name]: value }
  return values
}

function checkArgs(values: Args, args: ReadonlyMap<string, TypeReference>, takesAllArgs: boolean): void {
  for (const [name, type] of args)
    if (type.isNonNull && (argOf(values, name) ?? null) === null)
      throw badInput(`Argument "${name}" is required.`)
  if (takesAllArgs) return
  for (const name of Object.keys(values))
    if (!args.has(name))
      throw badInput(`Unknown argument "${name}"; expected ${[...args.keys()].join(', ') || 'none'}.`)
}

function returnTypeOf({ returnType, responseSchema }: RestEndpoint): TypeReference {
  const reference = atPlace(['returnType'], () =>
    parseTypeReference(returnType ?? responseSchema?.typeName ?? 'JSON'),
  )
  if (responseSchema && reference.name !== responseSchema.typeName)
    throw new RestConfigError(
      `returnType "${returnType}" and responseSchema.typeName "${responseSchema.typeName}" are different types; use the same type in both`,
      { path: ['returnType'] },
    )
  return reference
}

function typesOf({ returnType, responseSchema }: RestEndpoint, known: TypeDefinitions): Set<string> {
  const types = new Set<string>()
  const visit = (definitions: FieldDefinitions, path: readonly string[]): void => {
    for (const [field, definition] of Object.entries(definitions)) {
      const { type, fields = {} } = typeof definition === 'string' ? { type: definition } : definition
      const at = [...path, field]
      const { name } = atPlace(at, () => parseTypeReference(type))
      if (!SCALARS.has(name)) types.add(name)
      visit(fields, [...at, 'fields'])
    }
  }
  if (responseSchema) {
    types.add(responseSchema.typeName)
    visit(responseSchema.fields, ['responseSchema', 'fields'])
  } else if (returnType !== undefined) {
    const { name } = parseTypeReference(returnType)
    const isLeaf = SCALARS.has(name) || ['enum', 'scalar'].includes(known[name]?.kind ?? '')
    if (!isLeaf) types.add(name)
  }
  return types
}
