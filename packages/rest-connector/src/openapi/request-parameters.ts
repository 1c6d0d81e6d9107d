import type { ArgumentDefinition } from '../declare/arguments.ts'
import type { RestEndpoint } from '../declare/endpoint-options.ts'
import type { HttpMethod } from '../http/http-method.ts'
import type { ParameterOptions } from '../parameters/parameter-options.ts'
import { RestConfigError } from '../errors.ts'
import { compileParameters, OTHER_HEADERS } from '../parameters/compile-parameters.ts'
import type { OpenApiFinding } from './findings.ts'
import { isName, pascal, toFieldName } from './names.ts'
import { asList, asNode, asText, type Node } from './openapi-document.ts'
import { spoken } from './operation-names.ts'
import { requestBodyOf, styleIn, type TypeSettings } from './request-body.ts'
import { freeName } from './types/leaves/free-name.ts'
import { sharedPlace } from './types/schema-name.ts'
import { inside, type Place } from './types/type-names.ts'

/** How an operation takes its input. */
export interface RequestInput {
  readonly endpoint: Pick<RestEndpoint, 'path' | 'args' | 'parameters' | 'body' | 'bodyTemplate'>
  /** Why the operation cannot be called; absent when it can. */
  readonly skip?: string | undefined
  /** Why parameters that may be absent are not among the arguments. */
  readonly dropped?: readonly string[] | undefined
  /** What is sent otherwise than it is written. */
  readonly told?: readonly Pick<OpenApiFinding, 'message' | 'mend'>[] | undefined
}

const QUERY_FORM = 'application/x-www-form-urlencoded'

/** Arguments, parameters and the body of an operation, each in the declaration's own words. */
export function requestInputOf(
  method: HttpMethod,
  template: string,
  pathItem: Node,
  operation: Node,
  settings: TypeSettings,
): RequestInput {
  const args: Record<string, ArgumentDefinition> = {}
  const parameters: ParameterOptions[] = []
  const dropped: string[] = []
  const told: Pick<OpenApiFinding, 'message' | 'mend'>[] = []
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
    if (typeof parameter === 'string') return { endpoint: { path }, skip: parameter }
    const style = asText(node['style'])
    if (style !== undefined && parameter.style === undefined)
      told.push({
        message: `the parameter "${parameter.name}" is sent in the default style, because ${parameter.in} parameters do not support the style "${style}"`,
        mend: 'if the API needs this style, send the parameter with an interceptor',
      })
    const arg = addArgument(parameter.name, argumentOf(node, parameter, settings, places.get(node)))
    parameters.push({ ...parameter, ...(arg !== parameter.name && { arg }) })
  }
  const { node: requestBody, ref } = settings.document.follow(asNode(operation['requestBody']))
  const place = sharedPlace(ref, settings.place)
  const body = requestBodyOf(requestBody, method, { ...settings, place })
  const found = body && 'fault' in body ? undefined : body
  if (body && 'fault' in body) {
    if (body.isRequired) return { endpoint: { path }, skip: body.fault }
    dropped.push(body.fault)
  }
  if (found) told.push(...found.told)
  const arg = found && addArgument('input', found.argument)
  return {
    dropped,
    told,
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
