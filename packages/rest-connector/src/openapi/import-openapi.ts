import type { RestEndpoint } from '../declare/endpoint-options.ts'
import { compileEndpoint } from '../declare/endpoint.ts'
import type { NameValues } from '../templates/query-template.ts'
import { answerOf } from './answers.ts'
import { createEnvelopes, withLinks, type EnvelopeOf } from './envelopes.ts'
import { Findings, pointerOf } from './findings.ts'
import { capitalize, pascal } from './names.ts'
import { asText, type Node, type OpenApiDocument } from './openapi-document.ts'
import { keyOf, operationNames } from './operation-names.ts'
import type { OpenApiImport, OpenApiOptions } from './openapi-options.ts'
import { filterOf, readOperations, type ReadOperation } from './operations.ts'
import { readDocument } from './files/read-document.ts'
import { requestInputOf } from './request-parameters.ts'
import { securityOf } from './security.ts'
import { serverUrlOf, type ServerPlace } from './servers.ts'
import { SchemaTypes } from './types/schema-types.ts'
import { TypeNames } from './types/type-names.ts'

/**
 * Endpoints and types of an OpenAPI 3 or Swagger 2 document, given as an object, or as the path or URL of a JSON or YAML
 * file. Paths are relative to the document's server: that address is the connector's `baseUrl`. What cannot be served is left
 * out and listed in `findings`. @throws RestConfigError where the document cannot be read at all
 */
export async function importOpenApi(
  document: object | string,
  options: OpenApiOptions = {},
): Promise<OpenApiImport> {
  const {
    prefix = '',
    source = 'api',
    integers = 'auto',
    trustRequired = false,
    rename = {},
    asQuery = [],
  } = options
  const taken = new Set(options.taken)
  const loaded = await readDocument(document, {
    documentUrl: options.documentUrl,
    download: options.download,
  })
  const findings = new Findings()
  for (const [place, reason] of loaded.unconverted)
    findings.add({
      place,
      message: `is left out: it cannot be converted to OpenAPI 3 (${reason})`,
      mend: 'correct it',
    })
  const operations = readOperations(loaded, options, findings)
  const { names, moved } = operationNames(operations, { prefix, taken, source, rename })
  const schemas = Object.keys(loaded.components('schemas'))
  const typeNames = new TypeNames(schemas, { prefix: capitalize(prefix), taken, source, rename })
  let place = '#'
  const types = new SchemaTypes(loaded, typeNames, {
    integers,
    trusts: (name, field) => {
      if (typeof trustRequired === 'boolean') return trustRequired
      const type = typeNames.moved(name)?.wanted ?? name
      return trustRequired.includes(type) || trustRequired.includes(`${type}.${field}`)
    },
    onBadReference: (message) =>
      findings.add({
        place,
        message: `${message}; what it stands for is JSON`,
        mend: 'correct the reference',
      }),
  })
  const envelopeOf = createEnvelopes(options, { document: loaded, types, names: typeNames })
  const isQuery = filterOf(asQuery)
  const { env = process.env, server, variables, documentUrl = loaded.url } = options
  const servers: ServerPlace = { source, env, server, variables, documentUrl }
  const address = options.baseUrl ?? addressOf(loaded.root, servers, findings)
  const ownServers: ServerPlace = { ...servers, server: undefined, documentUrl: documentUrl ?? address }

  /** The address that an operation or a path has for itself. One who says where the API is means all of it. */
  function ownServer(node: Node, operation: string): string | undefined {
    const url = serverUrlOf(node, ownServers)
    if (url === undefined || options.baseUrl === undefined || isSameOrigin(url, options.baseUrl)) return url
    findings.add({
      place: operation,
      message: `its own server ${url} is not asked, as baseUrl is set`,
      mend: 'leave baseUrl out, or declare the operation under endpoints with a baseUrl of its own',
    })
    return undefined
  }

  const nodes = new Map<string, Node>()
  const made = new Map<ReadOperation, RestEndpoint>()
  for (const operation of operations) {
    place = operation.place
    const name = names.get(keyOf(operation)) as string
    const {
      endpoint,
      reason,
      dropped = [],
    } = attempt(operation, name, { document: loaded, types, envelopeOf }, (node) =>
      ownServer(node, operation.place),
    )
    for (const message of dropped)
      findings.add({ place, message: `${message}: the field has no such argument` })
    if (endpoint === undefined)
      findings.add({
        place,
        message: `${keyOf(operation)} is left out: ${reason}`,
        mend: 'declare it under endpoints, or leave it out with exclude',
      })
    else {
      nodes.set(name, operation.node)
      const wanted = moved.get(keyOf(operation))
      if (wanted !== undefined) tellMoved(findings, place, { kind: 'field', name, wanted })
      const isRead = isQuery(operation) && operation.method !== 'GET'
      made.set(operation, isRead ? { ...endpoint, asQuery: true } : endpoint)
    }
  }
  // Some documents name servers of their paths alone.
  const baseUrl = address ?? [...made.values()].find((one) => one.baseUrl !== undefined)?.baseUrl
  const security = securityOf(loaded, nodes, { source, env, baseUrl, from: options.security ?? 'env' })
  for (const [scheme, reason] of security.refused)
    findings.add({
      place: pointerOf('components', 'securitySchemes', scheme),
      message: `its credentials are not sent: ${reason}`,
      mend: 'send them with an interceptor',
    })
  const definitions = types.definitions()
  for (const name of Object.keys(definitions)) {
    const { wanted, schema } = typeNames.moved(name) ?? {}
    const at = schema === undefined ? pointerOf() : pointerOf('components', 'schemas', schema)
    if (wanted !== undefined) tellMoved(findings, at, { kind: 'type', name, wanted })
  }
  refuseUnknownNames(rename, operations, schemas, findings)
  const { interceptors, forwardHeaders } = security
  return {
    baseUrl,
    endpoints: withLinks(made, options.links, loaded, findings),
    types: definitions,
    interceptors,
    forwardHeaders,
    variables: security.variables,
    findings: findings.list(),
    files: loaded.files,
  }
}

function tellMoved(
  findings: Findings,
  place: string,
  { kind, name, wanted }: { readonly kind: 'field' | 'type'; readonly name: string; readonly wanted: string },
): void {
  findings.add({
    place,
    message: `the ${kind} is called ${name}, because the name ${wanted} is taken`,
    mend: 'choose a name with rename or prefix',
  })
}

/** The address of the document's server. */
function addressOf(root: Node, servers: ServerPlace, findings: Findings): string | undefined {
  try {
    return serverUrlOf(root, servers)
  } catch (error) {
    findings.add({ place: pointerOf('servers'), message: (error as Error).message })
    return undefined
  }
}

interface AttemptSettings {
  readonly document: OpenApiDocument
  readonly types: SchemaTypes
  readonly envelopeOf: EnvelopeOf
}

/** The endpoint of an operation, or why there is none. */
function attempt(
  operation: ReadOperation,
  name: string,
  { document, types, envelopeOf }: AttemptSettings,
  ownServer: (node: Node) => string | undefined,
): {
  readonly endpoint?: RestEndpoint
  readonly reason?: string | undefined
  readonly dropped?: readonly string[] | undefined
} {
  try {
    const { node, pathItem, method } = operation
    const { path, query } = splitPath(operation.path)
    const place = { name: pascal(name), key: operation.place }
    const parameters = requestInputOf(method, path, pathItem, node, { document, types, place })
    if (parameters.skip !== undefined) return { reason: parameters.skip }
    const description = [asText(node['summary']), asText(node['description'])]
      .filter(Boolean)
      .join('\n\n')
      .trim()
    const baseUrl = ownServer(node) ?? ownServer(pathItem)
    const envelope = envelopeOf(operation, name)
    const endpoint: RestEndpoint = {
      name,
      method,
      ...parameters.endpoint,
      ...(query && { queryParams: query }),
      ...(description && { description }),
      ...(node['deprecated'] === true && { deprecated: 'Deprecated by the API.' }),
      ...answerOf(node, place, document, types),
      ...(baseUrl !== undefined && { baseUrl }),
      ...(envelope && { envelope }),
    }
    // What a connector would refuse must not stop the others.
    compileEndpoint(endpoint, { basePath: '', timeoutMs: 1, defaultHeaders: {}, types: {} })
    return { endpoint, dropped: parameters.dropped }
  } catch (error) {
    return { reason: error instanceof Error ? error.message.replace(/^endpoint "\w+": /, '') : String(error) }
  }
}

function isSameOrigin(url: string, other: string): boolean {
  return URL.canParse(other) && new URL(url).origin === new URL(other).origin
}

/** Some documents tell operations of one path apart by a query, or by a fragment, which no request holds. */
function splitPath(text: string): { readonly path: string; readonly query: NameValues | undefined } {
  const [, path = '', query = ''] = /^((?:\{[^{}]*\}|[^?#])*)(?:\?([^#]*))?/.exec(text) ?? []
  return { path, query: query === '' ? undefined : Object.fromEntries(new URLSearchParams(query)) }
}

function refuseUnknownNames(
  rename: Readonly<Record<string, string>>,
  operations: readonly ReadOperation[],
  schemas: readonly string[],
  findings: Findings,
): void {
  const known = new Set([...schemas, ...operations.flatMap((one) => [one.operationId ?? '', keyOf(one)])])
  for (const key of Object.keys(rename))
    if (!known.has(key))
      findings.add({
        place: pointerOf(),
        message: `rename names "${key}", which the document does not have`,
        mend: 'name an operation id, "GET /path", or a schema',
      })
}
