import type { RestEndpoint } from '../declare/endpoint-options.ts'
import type { EnvelopeLink, LinkPart, LinkValue } from '../declare/envelope-options.ts'
import type { TypeDefinitions } from '../declare/type-definitions.ts'
import { partsOfSuccesses } from './answers.ts'
import { pointerOf, type Findings } from './findings.ts'
import { camel, fieldNames } from './names.ts'
import {
  asNode,
  asText,
  decoded,
  splitOnce,
  unescapeStep,
  type Node,
  type OpenApiDocument,
} from './openapi-document.ts'
import type { ReadOperation } from './operations.ts'

/** Whether a name is among those that are asked for. */
export function isChosen(selection: boolean | readonly string[], name: string): boolean {
  return typeof selection === 'boolean' ? selection : selection.includes(name)
}

interface LinkSettings {
  readonly selection: boolean | readonly string[]
  readonly document: OpenApiDocument
  readonly definitions: TypeDefinitions
  readonly findings: Findings
}

/** The endpoints with their links, where the operation that is linked to became one. */
export function withLinks(
  made: ReadonlyMap<ReadOperation, RestEndpoint>,
  { selection, document, definitions, findings }: LinkSettings,
): readonly RestEndpoint[] {
  const operations = [...made.keys()]
  return [...made].map(([operation, endpoint]) => {
    const { envelope } = endpoint
    if (envelope?.links === undefined) return endpoint
    const links: Record<string, EnvelopeLink> = {}
    const chosen = partsOfSuccesses(operation.node, 'links', document).filter(([link]) =>
      isChosen(selection, link),
    )
    const fields = fieldNames(chosen.map(([link]) => camel(link)))
    for (const [link, node] of chosen) {
      const target = operations.find((one) => isTarget(one, node))
      let field = fields.get(camel(link)) as string
      if (['body', 'headers', 'next'].includes(field)) field = `${field}Link`
      const found = Object.hasOwn(links, field)
        ? `another link already uses the field name "${field}"`
        : linkOf(node, endpoint, target && made.get(target), definitions)
      if (typeof found === 'object') links[field] = found
      else
        findings.add({
          place: operation.place,
          message: `the link "${link}" is skipped: ${found}`,
          fix: 'declare the link under envelope.links of an endpoint',
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
  // Braces of a path are percent-encoded in many pointers.
  return `#${decoded(pointer)}` === pointerOf('paths', path, method.toLowerCase())
}

/** The link as a field; text: why it is none. */
function linkOf(
  node: Node,
  endpoint: RestEndpoint,
  target: RestEndpoint | undefined,
  definitions: TypeDefinitions,
): EnvelopeLink | string {
  if (!target) return 'the linked operation does not exist or was not imported'
  if ((target.method ?? 'GET') !== 'GET' && !target.asQuery)
    return 'the linked operation is a mutation, which a link cannot call; add the operation to asQuery if it does not change data'
  if (node['server'] !== undefined) return 'the link has its own server, which is not supported'
  const args: Record<string, LinkValue> = {}
  const given: [string, unknown][] = Object.entries(asNode(node['parameters']))
  if (node['requestBody'] !== undefined) {
    if (!target.body) return 'the link sends a requestBody, but the linked operation does not accept a body'
    given.push([target.body.arg ?? 'input', node['requestBody']])
  }
  for (const [name, expression] of given) {
    const arg = argumentOf(target, name)
    if (arg === undefined) return `the linked operation has no parameter "${name}"`
    if (typeof expression !== 'string' && EXPRESSION.test(JSON.stringify(expression)))
      return `${JSON.stringify(expression)} contains runtime expressions, which are not supported inside objects and lists`
    const value = valueOf(expression, endpoint, definitions)
    if (value === undefined)
      return `${JSON.stringify(expression)} is not a supported runtime expression, or it refers to a parameter or body field that the operation does not have`
    args[arg] = value
  }
  const description = asText(node['description'])?.trim()
  return { endpoint: target.name, args, ...(description && { description }) }
}

/** "Runtime Expressions" (OpenAPI 3.1, section 4.8.20.4). */
const EXPRESSION = /\$(?:url|method|statusCode|request\.|response\.)/

/**
 * A constant, an expression, or a text with expressions in braces; undefined: one that no field can be asked with.
 */
export function valueOf(
  given: unknown,
  endpoint: RestEndpoint,
  definitions: TypeDefinitions,
): LinkValue | undefined {
  if (typeof given !== 'string') return { value: given }
  if (given.startsWith('$')) return expressionOf(given, endpoint, definitions)
  // Text and expressions by turns.
  const parts = given.split(/\{(\$[^{}]*)\}/)
  if (parts.length === 1) return { value: given }
  const values = parts.map((part, index) =>
    index % 2 === 0 ? part : expressionOf(part, endpoint, definitions),
  )
  const known = values.filter((value) => value !== undefined && value !== '') as (string | LinkPart)[]
  if (values.includes(undefined)) return undefined
  const [only] = known
  if (known.length === 1 && typeof only === 'object') return only
  return known.every((one) => typeof one === 'string' || 'value' in one)
    ? { value: known.map((one) => (typeof one === 'string' ? one : String(Object(one).value))).join('') }
    : { text: known }
}

function expressionOf(
  expression: string,
  endpoint: RestEndpoint,
  definitions: TypeDefinitions,
): LinkPart | undefined {
  if (expression === '$method') return { value: endpoint.method ?? 'GET' }
  if (expression === '$url') return { exchange: 'url' }
  if (expression === '$statusCode') return { exchange: 'status' }
  const [source, pointer] = splitOnce(expression, '#')
  const [, from = '', place = '', name = ''] = /^\$(request|response)\.(\w+)(?:\.(.+))?$/.exec(source) ?? []
  const steps = pointer.split('/').slice(1).map(unescapeStep)
  if (from === 'response') {
    if (place === 'body') return { body: `$${steps.map(pathStep).join('')}` }
    return place === 'header' && name !== '' ? { header: name } : undefined
  }
  if (from !== 'request') return undefined
  if (place === 'body') return memberOfBody(steps, endpoint, definitions)
  const fixed = place === 'query' ? endpoint.queryParams?.[name] : undefined
  if (fixed !== undefined) return { value: fixed }
  const arg = argumentOf(endpoint, `${place}.${name}`)
  return arg === undefined ? undefined : { arg }
}

/** The argument that a parameter is, named alone or behind its place. */
export function argumentOf(
  { parameters = [], args = {}, path }: RestEndpoint,
  name: string,
): string | undefined {
  const [place, rest] = splitOnce(name, '.')
  const found =
    parameters.find((one) => one.name === name) ??
    parameters.find(
      (one) =>
        one.in === place &&
        (one.name === rest || (place === 'header' && one.name.toLowerCase() === rest.toLowerCase())),
    )
  if (found) return found.arg ?? found.name
  if (Object.hasOwn(args, name)) return name
  // A variable of the path that no parameter describes is an argument of its name.
  return [name, place === 'path' ? rest : name].find((one) => path.includes(`{${one}}`))
}

/** The member of the argument that a body is; the pointer has the API's names. */
function memberOfBody(
  steps: readonly string[],
  { body, args = {} }: RestEndpoint,
  definitions: TypeDefinitions,
): LinkPart | undefined {
  if (!body) return undefined
  const { arg = 'input' } = body
  const given = args[arg]
  let type = typeof given === 'string' ? given : given?.type
  let path = '$'
  for (const step of steps) {
    if (type === undefined) return undefined
    const bare = type.replace(/!$/, '')
    const definition = Object.hasOwn(definitions, bare) ? definitions[bare] : undefined
    if (bare === 'JSON') path += pathStep(step)
    else if (bare.startsWith('[') && /^\d+$/.test(step)) {
      type = bare.slice(1, -1)
      path += `[${step}]`
    } else if (definition?.kind === 'input' && !definition.isOneOf) {
      const found = Object.entries(definition.fields).find(
        ([name, { key = name, besides }]) => key === step && !besides,
      )
      if (!found) return undefined
      type = found[1].type
      path += pathStep(found[0])
    } else return undefined
  }
  return steps.length === 0 ? { arg } : { arg, path }
}

/** A step of a JSON pointer in the words of `responsePath`. */
function pathStep(step: string): string {
  if (/^\d+$/.test(step)) return `[${step}]`
  return `['${step.replaceAll(/['\\]/g, String.raw`\$&`)}']`
}
