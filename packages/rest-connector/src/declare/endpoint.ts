import { argsBody, compileBody, type BodyTemplate } from '../templates/body-template.ts'
import { atPlace, badInput, RestConfigError } from '../errors.ts'
import { parseTypeReference, type FieldDefinitions, type TypeReference } from './fields.ts'
import { compileHeaders } from '../templates/header-template.ts'
import { ACCEPTED_ENCODINGS } from '../http/decode.ts'
import type { RestEndpoint } from './endpoint-options.ts'
import type { HttpMethod } from '../http/http-method.ts'
import { compilePath } from '../templates/path-template.ts'
import { compileQuery, type NameValues } from '../templates/query-template.ts'
import { compileResponsePath, type ResponsePath } from '../templates/response-path.ts'
import { argOf, type Args } from '../templates/template.ts'
import type { WireRequest } from '../http/transport.ts'

/** An endpoint whose every template was checked and compiled. */
export interface CompiledEndpoint {
  readonly name: string
  readonly declared: RestEndpoint
  readonly method: HttpMethod
  readonly isMutation: boolean
  /** GraphQL types of the arguments, by name, in the order of their first appearance. */
  readonly args: ReadonlyMap<string, TypeReference>
  readonly returnType: TypeReference
  /** Object types that a response may hold; empty when nothing is declared. */
  readonly types: ReadonlySet<string>
  readonly timeoutMs: number
  readonly extract: ResponsePath
  /** The request for these arguments; throws BAD_USER_INPUT for values that cannot be sent. */
  render(args: Args): WireRequest
}

export interface EndpointDefaults {
  readonly basePath: string
  readonly timeoutMs: number
  readonly defaultHeaders: NameValues
}

const GRAPHQL_NAME = /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/
const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const JSON_TYPE = 'application/json'

export function compileEndpoint(endpoint: RestEndpoint, defaults: EndpointDefaults): CompiledEndpoint {
  return atPlace(`endpoint "${endpoint.name}"`, () => compile(endpoint, defaults))
}

function compile(endpoint: RestEndpoint, defaults: EndpointDefaults): CompiledEndpoint {
  const { name, method = 'GET', headers = {}, queryParams = {}, queryArrayFormat = 'repeat' } = endpoint
  const { timeoutMs = defaults.timeoutMs, responsePath, bodyTemplate, asQuery = false } = endpoint
  if (!GRAPHQL_NAME.test(name)) throw new RestConfigError(`name "${name}" is not a GraphQL name`)
  if (!METHODS.includes(method))
    throw new RestConfigError(`method "${String(method)}" is not one of ${METHODS.join(', ')}`)
  if (bodyTemplate && method === 'GET')
    throw new RestConfigError(`a GET request has no body; remove bodyTemplate or use another method`)
  const takesAllArgs = bodyTemplate === undefined && method !== 'GET' && method !== 'DELETE'
  const hasBody = takesAllArgs || typeof bodyTemplate === 'string'

  const path = compilePath(endpoint.path)
  const query = compileQuery(queryParams, queryArrayFormat)
  const implicit: NameValues = {
    accept: 'application/json, */*;q=0.5',
    'accept-encoding': ACCEPTED_ENCODINGS,
    ...(hasBody && { 'content-type': JSON_TYPE }),
  }
  const header = compileHeaders(implicit, defaults.defaultHeaders, headers)
  const contentType = header.render({})['content-type'] ?? JSON_TYPE
  // What has its place in the request already, a secret in a header above all, is not sent once more.
  const placed = [...path.variables, ...query.variables, ...header.variables]
  const body: BodyTemplate | undefined = !hasBody
    ? undefined
    : takesAllArgs
      ? argsBody(contentType, new Set(placed))
      : compileBody(bodyTemplate as string, contentType)

  const args = argumentTypes(endpoint, path.variables, [
    ...query.variables,
    ...header.variables,
    ...(body?.variables ?? []),
  ])
  if (!takesAllArgs) refuseUnusedArgs(endpoint, args, [path, query, header, body])

  return {
    name,
    declared: endpoint,
    method,
    isMutation: method !== 'GET' && !asQuery,
    args,
    returnType: returnTypeOf(endpoint),
    types: typesOf(endpoint),
    timeoutMs,
    extract: responsePath === undefined ? (value) => value : compileResponsePath(responsePath),
    render(values) {
      checkArgs(values, args, takesAllArgs)
      return {
        method,
        path: `${defaults.basePath}${path.render(values)}${query.render(values)}` || '/',
        headers: header.render(values),
        body: body?.render(values),
      }
    },
  }
}

function argumentTypes(
  { args: declared = {} }: RestEndpoint,
  pathVariables: readonly string[],
  otherVariables: readonly string[],
): Map<string, TypeReference> {
  const types = new Map<string, TypeReference>()
  for (const name of new Set([...pathVariables, ...otherVariables, ...Object.keys(declared)])) {
    if (!GRAPHQL_NAME.test(name)) throw new RestConfigError(`argument "${name}" is not a GraphQL name`)
    const text = Object.hasOwn(declared, name) ? declared[name] : undefined
    const type = atPlace(`argument "${name}"`, () => parseTypeReference(text ?? 'String'))
    types.set(
      name,
      pathVariables.includes(name) && !type.isNonNull ? parseTypeReference(`${type.text}!`) : type,
    )
  }
  return types
}

function refuseUnusedArgs(
  { name, method = 'GET' }: RestEndpoint,
  args: ReadonlyMap<string, TypeReference>,
  templates: readonly ({ readonly variables: readonly string[] } | undefined)[],
): void {
  const used = new Set(templates.flatMap((template) => template?.variables ?? []))
  for (const arg of args.keys())
    if (!used.has(arg))
      throw new RestConfigError(
        `argument "${arg}" is declared but no template of ${method} ${name} uses {${arg}}; ` +
          `put it into path, queryParams, headers or bodyTemplate`,
      )
}

function checkArgs(values: Args, args: ReadonlyMap<string, TypeReference>, takesAllArgs: boolean): void {
  for (const [name, type] of args)
    if (type.isNonNull && (argOf(values, name) ?? null) === null)
      throw badInput(`Argument "${name}" is required.`)
  if (takesAllArgs) return
  for (const name of Object.keys(values))
    if (!args.has(name))
      throw badInput(`Argument "${name}" is not known; expected ${[...args.keys()].join(', ') || 'none'}.`)
}

function returnTypeOf({ returnType, responseSchema }: RestEndpoint): TypeReference {
  const reference = parseTypeReference(returnType ?? responseSchema?.typeName ?? 'JSON')
  if (responseSchema && reference.name !== responseSchema.typeName)
    throw new RestConfigError(
      `returnType "${returnType}" and responseSchema.typeName "${responseSchema.typeName}" name different types`,
    )
  return reference
}

const SCALARS: ReadonlySet<string> = new Set(['String', 'Int', 'Float', 'Boolean', 'ID', 'Long', 'JSON'])

function typesOf({ returnType, responseSchema }: RestEndpoint): Set<string> {
  const types = new Set<string>()
  const visit = (definitions: FieldDefinitions): void => {
    for (const definition of Object.values(definitions)) {
      const { type, fields = {} } = typeof definition === 'string' ? { type: definition } : definition
      const { name } = parseTypeReference(type)
      if (!SCALARS.has(name)) types.add(name)
      visit(fields)
    }
  }
  if (responseSchema) {
    types.add(responseSchema.typeName)
    visit(responseSchema.fields)
  } else if (returnType !== undefined) {
    const { name } = parseTypeReference(returnType)
    if (!SCALARS.has(name)) types.add(name)
  }
  return types
}
