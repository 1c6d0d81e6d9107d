import type { RestEndpoint } from '../declare/endpoint-options.ts'
import type { EnvelopeHeader, EnvelopeLink, EnvelopeOptions, LinkValue } from '../declare/envelope-options.ts'
import { pointerOf, type Findings } from './findings.ts'
import { fieldNames, camel, pascal } from './names.ts'
import { asNode, asText, splitOnce, type Node, type OpenApiDocument } from './openapi-document.ts'
import { filterOf, type OperationFilter, type ReadOperation } from './operations.ts'
import { successesOf } from './answers.ts'
import type { SchemaTypes } from './types/schema-types.ts'
import type { TypeNames } from './types/type-names.ts'

/** The parts of an answer, besides its body, that become fields. */
export interface EnvelopeSelection {
  /**
   * Documented response headers as fields: all, or those of these names. Fields of operations that document one give an
   * object of `body` and `headers`. Default false.
   */
  readonly headers?: boolean | readonly string[] | undefined
  /**
   * The document's `links`, all or those of these names, as fields that ask the operation that is linked to. Fields of
   * operations with one give an object of `body` and them. Default false.
   */
  readonly links?: boolean | readonly string[] | undefined
  /**
   * A field `next` beside `body`, to which a `Link` header with `rel="next"` leads: `true`: for GET operations that document
   * the header, or those named as in `include`. Default false.
   */
  readonly nextPage?: boolean | OperationFilter | undefined
}

export interface EnvelopeSettings {
  readonly document: OpenApiDocument
  readonly types: SchemaTypes
  readonly names: TypeNames
}

/** The envelope of one operation; undefined: nothing is asked for that it has. */
export type EnvelopeOf = (operation: ReadOperation, name: string) => EnvelopeOptions | undefined

/** Scalars that a header's text can be. */
const PLAIN = /^\[?(Int|Float|Boolean|String|Long|DateTime|Date|UUID|URI|EmailAddress)\]?$/

export function createEnvelopes(
  { headers = false, links = false, nextPage = false }: EnvelopeSelection,
  { document, types, names }: EnvelopeSettings,
): EnvelopeOf {
  const isPaged = typeof nextPage === 'boolean' ? undefined : filterOf(nextPage)

  function documented(operation: ReadOperation): ReadonlyMap<string, Node> {
    const all = successesOf(operation.node, document).flatMap((response) =>
      Object.entries(document.resolve(response['headers'])).map(
        ([name, node]) => [name, document.resolve(node)] as const,
      ),
    )
    // "Response Object", `headers`: a Content-Type is not one of them.
    return new Map(all.filter(([name]) => name.toLowerCase() !== 'content-type' && pascal(name) !== ''))
  }

  function headerOf(header: string, node: Node, place: string, owner: string): EnvelopeHeader {
    const schema =
      node['schema'] ?? Object.values(asNode(node['content'])).map((one) => asNode(one)['schema'])[0]
    const isPlain = !['enum', 'properties', 'oneOf', 'anyOf'].some((key) => key in document.resolve(schema))
    const own = { name: `${owner}${pascal(header)}`, key: `${place}/header ${header}` }
    const type = isPlain ? types.output(schema, own) : 'String'
    const description = asText(node['description'])?.trim()
    return { header, ...(PLAIN.test(type) && { type }), ...(description && { description }) }
  }

  return (operation, name) => {
    const known = documented(operation)
    const chosen = [...known].filter(([header]) => isChosen(headers, header.toLowerCase(), lower))
    const isLinked = [...known.keys()].some((header) => header.toLowerCase() === 'link')
    const next = operation.method === 'GET' && (isPaged ? isPaged(operation) : nextPage === true && isLinked)
    const hasLinks = linksOf(operation, document).some(([link]) => isChosen(links, link))
    if (chosen.length === 0 && !next && !hasLinks) return undefined
    const typeName = names.claim(`${pascal(name)}Reply`, `envelope ${operation.place}`)
    names.claim(`${typeName}Headers`, `headers ${operation.place}`)
    const fields = fieldNames(chosen.map(([header]) => camel(header.toLowerCase())))
    return {
      typeName,
      ...(next && { next }),
      ...(chosen.length > 0 && {
        headers: Object.fromEntries(
          chosen.map(([header, node]) => [
            fields.get(camel(header.toLowerCase())) as string,
            headerOf(header, node, operation.place, typeName),
          ]),
        ),
      }),
      // The operations that links lead to are known once all operations are.
      ...(hasLinks && { links: {} }),
    }
  }
}

function lower(text: string): string {
  return text.toLowerCase()
}

function isChosen(
  selection: boolean | readonly string[],
  name: string,
  form: (text: string) => string = (text) => text,
): boolean {
  return typeof selection === 'boolean' ? selection : selection.map(form).includes(name)
}

function linksOf(operation: ReadOperation, document: OpenApiDocument): readonly (readonly [string, Node])[] {
  return successesOf(operation.node, document).flatMap((response) =>
    Object.entries(document.resolve(response['links'])).map(
      ([name, node]) => [name, document.resolve(node)] as const,
    ),
  )
}

/** The endpoints with their links, where the operation that is linked to became one. */
export function withLinks(
  made: ReadonlyMap<ReadOperation, RestEndpoint>,
  selection: EnvelopeSelection['links'],
  document: OpenApiDocument,
  findings: Findings,
): readonly RestEndpoint[] {
  const operations = [...made.keys()]
  return [...made].map(([operation, endpoint]) => {
    const { envelope } = endpoint
    if (envelope?.links === undefined) return endpoint
    const links: Record<string, EnvelopeLink> = {}
    const chosen = linksOf(operation, document).filter(([link]) => isChosen(selection ?? false, link))
    const fields = fieldNames(chosen.map(([link]) => camel(link)))
    for (const [link, node] of chosen) {
      const target = operations.find((one) => isTarget(one, node))
      const found = linkOf(node, endpoint, target && made.get(target))
      let field = fields.get(camel(link)) as string
      if (['body', 'headers', 'next'].includes(field)) field = `${field}Link`
      if (typeof found === 'object') links[field] = found
      else
        findings.add({
          place: operation.place,
          message: `its link "${link}" is left out: ${found}`,
          mend: 'declare it under envelope of an endpoint of your own',
        })
    }
    return { ...endpoint, envelope: { ...envelope, links } }
  })
}

function isTarget({ operationId, path, method }: ReadOperation, link: Node): boolean {
  const id = asText(link['operationId'])
  if (id !== undefined) return id === operationId
  const [document, pointer] = splitOnce(asText(link['operationRef']) ?? '', '#')
  if (document !== '') return false
  return `#${decoded(pointer)}` === pointerOf('paths', path, method.toLowerCase())
}

/** Braces of a path are percent-encoded in many pointers. */
function decoded(pointer: string): string {
  try {
    return decodeURIComponent(pointer)
  } catch {
    return pointer
  }
}

/** The link as a field; text: why it is none. */
function linkOf(node: Node, endpoint: RestEndpoint, target: RestEndpoint | undefined): EnvelopeLink | string {
  if (!target) return 'no field stands for the operation that it leads to'
  if ((target.method ?? 'GET') !== 'GET' && !target.asQuery) return 'it leads to a mutation'
  const args: Record<string, LinkValue> = {}
  const given: [string, unknown][] = Object.entries(asNode(node['parameters']))
  if (node['requestBody'] !== undefined) given.push([target.body?.arg ?? 'input', node['requestBody']])
  for (const [name, expression] of given) {
    const arg = argumentOf(target, name)
    if (arg === undefined) return `the operation that it leads to has no parameter "${name}"`
    const value = valueOf(expression, endpoint)
    if (value === undefined) return `${JSON.stringify(expression)} stands for nothing that is known`
    args[arg] = value
  }
  const description = asText(node['description'])?.trim()
  return { endpoint: target.name, args, ...(description && { description }) }
}

/** The argument that a parameter is, named alone or behind its place. */
function argumentOf({ parameters = [], args = {} }: RestEndpoint, name: string): string | undefined {
  const [place, rest] = splitOnce(name, '.')
  const found =
    parameters.find((one) => one.name === name) ??
    parameters.find((one) => one.in === place && one.name === rest)
  if (found) return found.arg ?? found.name
  return Object.hasOwn(args, name) ? name : undefined
}

/** "Runtime Expressions"; undefined: one that no field can be asked with. */
function valueOf(expression: unknown, endpoint: RestEndpoint): LinkValue | undefined {
  if (typeof expression !== 'string' || !expression.includes('$')) return { value: expression }
  const [source, pointer] = splitOnce(expression.replace(/^\{(\$[^{}]*)\}$/, '$1'), '#')
  const path = `$${pointer.split('/').slice(1).map(stepOf).join('')}`
  const [, from = '', place = '', name = ''] = /^\$(request|response)\.(\w+)(?:\.(.+))?$/.exec(source) ?? []
  if (from === 'response' && place === 'body') return { body: path }
  if (from === 'response' && place === 'header' && name !== '') return { header: name }
  if (from === 'request' && place === 'body' && endpoint.body)
    return { arg: endpoint.body.arg ?? 'input', path }
  if (from !== 'request' || !['path', 'query', 'header'].includes(place)) return undefined
  const arg = argumentOf(endpoint, `${place}.${name}`)
  return arg === undefined ? undefined : { arg }
}

/** A step of a JSON pointer in the words of `responsePath`. */
function stepOf(step: string): string {
  if (/^\d+$/.test(step)) return `[${step}]`
  const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
  return `['${name.replaceAll(/['\\]/g, String.raw`\$&`)}']`
}
