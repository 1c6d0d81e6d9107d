import type { RestEndpoint } from '../declare/endpoint-options.ts'
import { compileEndpoint } from '../declare/endpoint.ts'
import type { NameValues } from '../templates/query-template.ts'
import { answerOf } from './answers.ts'
import { createEnvelopes, type EnvelopeOf } from './envelopes.ts'
import { Findings, pointerOf } from './findings.ts'
import { pascal } from './names.ts'
import { withLinks } from './links.ts'
import { asList, asNode, asText, type Node, type OpenApiDocument } from './openapi-document.ts'
import { keyOf, operationNames, type OperationName } from './operation-names.ts'
import type { OpenApiImport, OpenApiOptions } from './openapi-options.ts'
import { filterOf, readOperations, type ReadOperation } from './operations.ts'
import { readDocument } from './files/read-document.ts'
import { requestInputOf, type RequestInput } from './request-input.ts'
import { securityOf } from './security.ts'
import { serverUrlOf, type ServerPlace } from './servers.ts'
import { DEPRECATED } from './types/describe.ts'
import { SchemaTypes } from './types/schema-types.ts'
import { spokenKey, TypeNames, type NameConflicts } from './types/type-names.ts'

/**
 * Endpoints and types of an OpenAPI 3 or Swagger 2 document, given as an object, or as the path or URL of a JSON or YAML
 * file. Paths are relative to the document's server: that address is the connector's `baseUrl`. What cannot be served is left
 * out and listed in `findings`. @throws RestConfigError where the document cannot be read at all
 */
export async function importOpenApi(
  document: object | string,
  options: OpenApiOptions = {},
): Promise<OpenApiImport> {
  const { source = 'api', rename = {}, asQuery = [], download, trustRequired = false } = options
  const loaded = await readDocument(document, { documentUrl: options.documentUrl, download })
  const findings = new Findings()
  const operations = readOperations(loaded, options, findings)
  const naming = { taken: new Set(options.taken), source, rename }
  const names = operationNames(operations, naming)
  const schemas = Object.keys(loaded.components('schemas'))
  const typeNames = new TypeNames(schemas, naming)
  let place = '#'
  const types = new SchemaTypes(loaded, typeNames, {
    integers: options.integers ?? 'auto',
    trustRequired,
    onBadReference(reason) {
      const message = `${reason}; the type becomes JSON`
      findings.add({ place, message, fix: 'correct the reference' })
    },
    onUnsaid: (message) => findings.fold(place, message),
    onDropped: (ref, dropped) => findings.add({ place: ref?.startsWith('#/') ? ref : place, ...dropped }),
  })
  const envelopeOf = createEnvelopes(options, loaded, types, typeNames)
  const isQuery = filterOf(asQuery)
  const { env = process.env, server, variables, documentUrl = loaded.url } = options
  const servers: ServerPlace = { server, variables, documentUrl }
  const address = options.baseUrl ?? addressOf(loaded.root, servers, findings)
  const serverOf = ownServerOf({ ...servers, server: undefined }, address, options.baseUrl, findings)

  const nodes = new Map<string, Node>()
  const made = new Map<ReadOperation, RestEndpoint>()
  for (const operation of operations) {
    place = operation.place
    const { name, ...conflicts } = names.get(keyOf(operation)) as OperationName
    const context = { document: loaded, types, envelopeOf, serverOf }
    let imported: ImportedEndpoint
    try {
      imported = endpointOf(operation, name, context)
    } catch (error) {
      const message = `${keyOf(operation)} is skipped: ${(error as Error).message}`
      findings.add({ place, message, fix: 'declare the operation under endpoints, or add it to exclude' })
      continue
    }
    for (const one of imported.told) findings.add({ place, ...one })
    nodes.set(name, operation.node)
    tellConflicts(findings, place, 'field', name, conflicts)
    const isRead = isQuery(operation) && operation.method !== 'GET'
    made.set(operation, isRead ? { ...imported.endpoint, asQuery: true } : imported.endpoint)
  }
  // Some documents name servers of their paths alone.
  const baseUrl = address ?? [...made.values()].find((one) => one.baseUrl !== undefined)?.baseUrl
  const security = securityOf(loaded, nodes, { source, env, baseUrl, from: options.security ?? 'env' })
  for (const [scheme, reason] of security.refused)
    findings.add({
      place: pointerOf('components', 'securitySchemes', scheme),
      message: `the credentials of this scheme are not sent: ${reason}`,
      fix: 'send them with an interceptor',
    })
  const definitions = types.definitions()
  for (const name of Object.keys(definitions)) {
    const { schema, ...conflicts } = typeNames.conflictsOf(name)
    const at = schema === undefined ? pointerOf() : pointerOf('components', 'schemas', schema)
    tellConflicts(findings, at, 'type', name, conflicts)
  }
  tellUnknownNames(options, operations, { schemas, types: Object.keys(definitions) }, findings)
  const { interceptors, forwardHeaders } = security
  return {
    baseUrl,
    endpoints: withLinks(made, {
      selection: options.links ?? false,
      document: loaded,
      definitions,
      findings,
    }),
    types: definitions,
    typeNames: typeNames.differing(schemas),
    interceptors,
    forwardHeaders,
    variables: security.variables,
    findings: findings.list(),
    files: loaded.files,
  }
}

/**
 * Finds the address that an operation or a path has for itself, in a document of unknown place relative to the root of the
 * API's server. One who says where the API is means all of it.
 */
function ownServerOf(
  servers: ServerPlace,
  address: string | undefined,
  baseUrl: string | undefined,
  findings: Findings,
): EndpointSettings['serverOf'] {
  const root = address !== undefined && URL.canParse(address) ? new URL('/', address).href : undefined
  return (node, place) => {
    const url = serverUrlOf(node, { ...servers, documentUrl: servers.documentUrl ?? root })
    if (url === undefined) return undefined
    if (servers.documentUrl === undefined && isBelowDocument(node))
      findings.add({
        place,
        message: `the server of this operation is a relative URL, but the URL of the document is unknown; requests go to ${url}`,
        fix: 'set documentUrl to the URL of the document',
      })
    if (baseUrl === undefined) return url
    if (URL.canParse(baseUrl) && new URL(url).origin === new URL(baseUrl).origin) return url
    findings.add({
      place,
      message: `the server ${url} of this operation is ignored, because baseUrl has a different origin`,
      fix: 'remove baseUrl, or declare the operation under endpoints with its own baseUrl',
    })
    return undefined
  }
}

/** Whether the server of a node is neither a whole address nor a path from the root. */
function isBelowDocument(node: Node): boolean {
  const url = asText(asNode(asList(node['servers'])[0])['url']) ?? '/'
  return !/^(?:[a-z][a-z0-9+.-]*:|\/|\{)/i.test(url)
}

/** Reports a name that differs from the wanted one, because another source or another part of the document uses that. */
function tellConflicts(
  findings: Findings,
  place: string,
  kind: 'field' | 'type',
  name: string,
  { wanted, passed, key }: Omit<NameConflicts, 'schema'>,
): void {
  if (wanted !== undefined)
    findings.add({
      place,
      message: `the ${kind} is called ${name}, because the name ${wanted} is taken`,
      fix: 'choose a name with rename or prefix',
    })
  if (passed.length === 0) return
  const owners = passed.map((one) => `${spokenKey(one.owner)} already has the name "${one.wanted}"`)
  // A type without a name is called by its place.
  const [operation] = /#\/paths\/[^/]+\/\w+/.exec(key ?? '') ?? []
  findings.add({
    place: operation ?? place,
    message: `${key === undefined ? 'this operation' : spokenKey(key)} becomes the ${kind} "${name}", because ${owners.join(', ')}`,
    fix: 'choose a name with rename',
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

interface ImportedEndpoint extends RequestInput {
  readonly endpoint: RestEndpoint
}

interface EndpointSettings {
  readonly document: OpenApiDocument
  readonly types: SchemaTypes
  readonly envelopeOf: EnvelopeOf
  readonly serverOf: (node: Node, operation: string) => string | undefined
}

/** Returns the endpoint of an operation. @throws Error if the operation cannot be called */
function endpointOf(
  operation: ReadOperation,
  name: string,
  { document, types, envelopeOf, serverOf }: EndpointSettings,
): ImportedEndpoint {
  const { node, pathItem, method } = operation
  const { path, query } = splitPath(operation.path)
  const place = { name: pascal(name), key: operation.place }
  const input = requestInputOf(name, path, operation, { document, types, place })
  const texts = [asText(node['summary']), asText(node['description'])]
  const description = texts.filter(Boolean).join('\n\n').trim()
  const baseUrl = serverOf(node, operation.place) ?? serverOf(pathItem, operation.place)
  const envelope = envelopeOf(operation, name)
  const endpoint: RestEndpoint = {
    name,
    method,
    ...input.endpoint,
    ...(query && { queryParams: query }),
    ...(description && { description }),
    ...(node['deprecated'] === true && { deprecated: DEPRECATED }),
    ...answerOf(node, place, document, types),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(envelope && { envelope }),
  }
  // An endpoint that a connector would refuse must not stop the others.
  compileEndpoint(endpoint, { basePath: '', timeoutMs: 1, defaultHeaders: {}, types: {} })
  return { endpoint, told: input.told }
}

/** Some documents tell operations of one path apart by a query, or by a fragment, which no request holds. */
function splitPath(text: string): { readonly path: string; readonly query: NameValues | undefined } {
  const [, path = '', query = ''] = /^((?:\{[^{}]*\}|[^?#])*)(?:\?([^#]*))?/.exec(text) ?? []
  return { path, query: query === '' ? undefined : Object.fromEntries(new URLSearchParams(query)) }
}

function tellUnknownNames(
  { rename = {}, asQuery = [], trustRequired = false }: OpenApiOptions,
  operations: readonly ReadOperation[],
  { schemas, types }: { readonly schemas: readonly string[]; readonly types: readonly string[] },
  findings: Findings,
): void {
  const known = new Set([...schemas, ...operations.flatMap((one) => [one.operationId ?? '', keyOf(one)])])
  const tell = (
    option: string,
    names: readonly string[],
    isThere: (name: string) => boolean,
    what: string,
  ): void => {
    for (const name of names)
      if (!isThere(name))
        findings.add({
          place: pointerOf(),
          message: `${option} contains "${name}", which is not part of the import`,
          fix: `use ${what}`,
        })
  }
  const operation = 'an operation ID, a method and path such as "GET /pets"'
  tell('rename', Object.keys(rename), (name) => known.has(name), `${operation}, or the name of a schema`)
  const reads = typeof asQuery === 'function' ? [] : asQuery
  tell('asQuery', reads, (name) => operations.some(filterOf([name])), `${operation}, or a pattern with *`)
  const trusted = typeof trustRequired === 'boolean' ? [] : trustRequired
  tell(
    'trustRequired',
    trusted,
    (name) => [...schemas, ...types].includes(name.split('.', 1)[0] ?? ''),
    'the name of a schema ("Pet") or of one of its fields ("Pet.name")',
  )
}
