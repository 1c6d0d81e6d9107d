import type { HttpMethod } from '../http/http-method.ts'
import { pointerOf, type Findings } from './findings.ts'
import { asList, asNode, asText, type Node, type OpenApiDocument } from './openapi-document.ts'

/** One operation of a document, as `include` and `exclude` see it. */
export interface OpenApiOperation {
  readonly method: HttpMethod
  readonly path: string
  readonly operationId: string | undefined
  readonly tags: readonly string[]
}

/** An operation with its nodes. */
export interface ReadOperation extends OpenApiOperation {
  readonly place: string
  readonly node: Node
  readonly pathItem: Node
}

/**
 * Operations by name: operation ids, `GET /pets/{id}` or `/pets/*`, where `*` stands for anything; or a test.
 */
export type OperationFilter = readonly string[] | ((operation: OpenApiOperation) => boolean)

export interface Selection {
  readonly include?: OperationFilter | undefined
  readonly exclude?: OperationFilter | undefined
  readonly tags?: readonly string[] | undefined
}

const METHODS: readonly HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
const OTHER_METHODS: readonly string[] = ['head', 'options', 'trace', 'query']

/** The selected operations of a document. */
export function readOperations(
  document: OpenApiDocument,
  { include, exclude, tags }: Selection,
  findings: Findings,
): readonly ReadOperation[] {
  const isIncluded = include === undefined ? () => true : filterOf(include)
  const isExcluded = exclude === undefined ? () => false : filterOf(exclude)
  const operations: ReadOperation[] = []
  for (const [path, item] of Object.entries(asNode(document.root['paths']))) {
    if (!path.startsWith('/')) continue
    const pathItem = resolved(document, item, pointerOf('paths', path), findings)
    for (const method of METHODS) {
      const node = asNode(pathItem[method.toLowerCase()])
      if (Object.keys(node).length === 0) continue
      const operation: ReadOperation = {
        method,
        path,
        operationId: asText(node['operationId']),
        tags: asList(node['tags']).filter((tag) => typeof tag === 'string'),
        place: pointerOf('paths', path, method.toLowerCase()),
        node,
        pathItem,
      }
      const isTagged = tags === undefined || operation.tags.some((tag) => tags.includes(tag))
      if (isTagged && isIncluded(operation) && !isExcluded(operation)) operations.push(operation)
    }
    for (const method of OTHER_METHODS)
      if (pathItem[method] !== undefined)
        findings.add({
          place: pointerOf('paths', path, method),
          message: `${method.toUpperCase()} ${path} is left out: only GET, POST, PUT, PATCH and DELETE become fields`,
        })
  }
  return operations
}

function resolved(document: OpenApiDocument, node: unknown, place: string, findings: Findings): Node {
  try {
    return document.resolve(node)
  } catch (error) {
    findings.add({
      place,
      message: `is left out: ${(error as Error).message}`,
      mend: 'correct the reference',
    })
    return {}
  }
}

/** Whether an operation is one of those that are named. */
export function filterOf(filter: OperationFilter): (operation: OpenApiOperation) => boolean {
  if (typeof filter === 'function') return filter
  const tests = filter.map(patternOf)
  return ({ method, path, operationId }) =>
    tests.some((test) =>
      [operationId, path, `${method} ${path}`].some((name) => name !== undefined && test(name)),
    )
}

function patternOf(pattern: string): (name: string) => boolean {
  if (!pattern.includes('*')) return (name) => name === pattern
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  const expression = new RegExp(`^${parts.join('.*')}$`)
  return (name) => expression.test(name)
}
