import type { RestEndpoint } from '../../declare/endpoint-options.ts'
import type { EnvelopeLink, LinkValue } from '../../declare/envelope-options.ts'
import type { TypeDefinitions } from '../../declare/type-definitions.ts'
import { partsOfSuccesses } from '../answers.ts'
import { pointerOf, type Findings } from '../findings.ts'
import { camel, fieldNames } from '../names.ts'
import { asNode, asText, decoded, splitOnce, type Node, type OpenApiDocument } from '../openapi-document.ts'
import type { ReadOperation } from '../operations.ts'
import { argumentOf, isExpression, valueOf } from './runtime-expressions.ts'

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
          mend: 'declare the link under envelope.links of an endpoint',
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
    if (typeof expression !== 'string' && isExpression(JSON.stringify(expression)))
      return `${JSON.stringify(expression)} contains runtime expressions, which are not supported inside objects and lists`
    const value = valueOf(expression, endpoint, definitions)
    if (value === undefined)
      return `${JSON.stringify(expression)} is not a supported runtime expression, or it refers to a parameter or body field that the operation does not have`
    args[arg] = value
  }
  const description = asText(node['description'])?.trim()
  return { endpoint: target.name, args, ...(description && { description }) }
}
