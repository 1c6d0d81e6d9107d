import type { RestEndpoint } from '../declare/endpoint-options.ts'
import type { HttpMethod } from '../http/http-method.ts'
import { RestConfigError } from '../errors.ts'
import { parseTypeReference } from '../declare/fields.ts'
import { asList, asNode, asText, loadOpenApi, type Node } from './openapi-document.ts'
import { operationName, toFieldName } from './openapi-names.ts'
import { parametersOf, type Parameters } from './openapi-parameters.ts'
import { fieldOf, type TypeSettings } from './openapi-types.ts'

/** One operation of a document, as `include` and `onSkip` see it. */
export interface OpenApiOperation {
  readonly method: HttpMethod
  readonly path: string
  readonly operationId: string | undefined
  readonly tags: readonly string[]
}

export interface OpenApiOptions {
  /** Which operations become endpoints: a list of operation ids, or a test. Default: all. */
  readonly include?: readonly string[] | ((operation: OpenApiOperation) => boolean) | undefined
  /** Only operations with one of these tags. Default: all. */
  readonly tags?: readonly string[] | undefined
  /** Put before the names of fields (`gh` gives `ghGetUser`) and types (`GhUser`). Default: nothing. */
  readonly prefix?: string | undefined
  /** The kind of an `integer` that has no format. Default `int`. */
  readonly integer?: 'int' | 'long' | 'float' | undefined
  /**
   * True: required properties become non-null. Default false: where an upstream does not keep what its document says,
   * a field is null and its object survives.
   */
  readonly trustRequired?: boolean | undefined
  /** True: refuse a document that breaks OpenAPI's own schema, as many published ones do. Default false. */
  readonly validate?: boolean | undefined
  /** Told of each operation that cannot be an endpoint, and why. Default: an error that lists them. */
  readonly onSkip?: ((operation: OpenApiOperation, reason: string) => void) | undefined
}

const METHODS: readonly HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/**
 * Endpoints with typed responses from an OpenAPI 3 document, given as an object or as a path to a JSON or YAML file.
 * Paths are relative to the document's server: that address is the connector's `baseUrl`.
 */
export async function endpointsFromOpenApi(
  document: object | string,
  options: OpenApiOptions = {},
): Promise<RestEndpoint[]> {
  const { tags, prefix = '', integer = 'int', validate = false, trustRequired = false } = options
  const { include = () => true, onSkip } = options
  const isIncluded = typeof include === 'function' ? include : idFilter(include)
  const loaded = await loadOpenApi(document, validate)
  const typePrefix = prefix.charAt(0).toUpperCase() + prefix.slice(1)
  const settings: TypeSettings = { document: loaded, prefix: typePrefix, integer, trustRequired }
  const endpoints: RestEndpoint[] = []
  const skipped: string[] = []

  for (const [path, item] of Object.entries(asNode(loaded.root['paths'])))
    for (const method of METHODS) {
      const pathItem = loaded.resolve(item)
      const node = asNode(pathItem[method.toLowerCase()])
      if (Object.keys(node).length === 0) continue
      const operation: OpenApiOperation = {
        method,
        path,
        operationId: asText(node['operationId']),
        tags: asList(node['tags']).filter((tag) => typeof tag === 'string'),
      }
      if ((tags && !operation.tags.some((tag) => tags.includes(tag))) || !isIncluded(operation)) continue
      const parameters = parametersOf(method, path, pathItem, node, settings)
      if (parameters.skip === undefined)
        endpoints.push(endpointOf(operation, node, parameters, prefix, settings))
      else if (onSkip) onSkip(operation, parameters.skip)
      else skipped.push(`${method} ${path}: ${parameters.skip}`)
    }

  if (skipped.length > 0)
    throw new RestConfigError(
      `${skipped.length} operations cannot be endpoints; leave them out with include, or set onSkip:\n${skipped.join('\n')}`,
    )
  return endpoints
}

function idFilter(ids: readonly string[]): (operation: OpenApiOperation) => boolean {
  const wanted = new Set(ids)
  return ({ operationId }) => operationId !== undefined && wanted.has(operationId)
}

function endpointOf(
  { method, path, operationId }: OpenApiOperation,
  node: Node,
  { endpoint }: Parameters,
  prefix: string,
  settings: TypeSettings,
): RestEndpoint {
  const bare = operationId === undefined ? operationName(method, path) : toFieldName(operationId)
  const name = prefix ? prefix + bare.charAt(0).toUpperCase() + bare.slice(1) : bare
  const description = [asText(node['summary']), asText(node['description'])].filter(Boolean).join('\n\n')
  return {
    name,
    method,
    ...endpoint,
    ...(description && { description }),
    ...responseOf(node, bare, settings),
  }
}

function responseOf(
  node: Node,
  operation: string,
  settings: TypeSettings,
): Pick<RestEndpoint, 'returnType' | 'responseSchema'> {
  const responses = Object.entries(asNode(node['responses']))
  const [, success] = responses.find(([status]) => /^2(?:\d\d|XX)$/i.test(status)) ?? []
  const content = Object.entries(asNode(settings.document.resolve(asNode(success))['content']))
  const [, media] = content.find(([type]) => /[/+]json\b/.test(type)) ?? []
  const schema = asNode(media)['schema']
  if (schema === undefined) return {}
  const { type, fields } = fieldOf(schema, `${operation}_response`, settings, new Set())
  if (!fields) return { returnType: type }
  return { returnType: type, responseSchema: { typeName: parseTypeReference(type).name, fields } }
}
