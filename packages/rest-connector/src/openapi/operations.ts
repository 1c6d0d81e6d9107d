import { METHODS, type HttpMethod } from '../http/http-method.ts'
import { pointerOf, type Findings } from './findings.ts'
import { asList, asNode, asText, type Node, type OpenApiDocument } from './openapi-document.ts'

/** An operation of a document, as passed to `include` and `exclude` functions. */
export interface OpenApiOperation {
  readonly method: HttpMethod
  readonly path: string
  readonly operationId: string | undefined
  readonly tags: readonly string[]
}

export interface ReadOperation extends OpenApiOperation {
  readonly place: string
  readonly node: Node
  readonly pathItem: Node
}

/**
 * Selects operations by operation id, by `GET /pets/{id}`, by pattern (`/pets/*`), or by a function.
 */
export type OperationFilter = readonly string[] | ((operation: OpenApiOperation) => boolean)

export interface Selection {
  /** Imports only these operations: ids, `GET /pets/{id}`, patterns with `*`, or a function. Default: all. */
  readonly include?: OperationFilter | undefined
  /** Omits these operations, selected as in `include`. Default: none. */
  readonly exclude?: OperationFilter | undefined
  /** Imports only operations with one of these tags. Default: all. */
  readonly tags?: readonly string[] | undefined
}

const OTHER_METHODS: readonly string[] = ['head', 'options', 'trace', 'query']

/** Returns the selected operations of a document. */
export function readOperations(
  document: OpenApiDocument,
  { include, exclude, tags }: Selection,
  findings: Findings,
): readonly ReadOperation[] {
  const isIncluded = include === undefined ? () => true : filterOf(include)
  const isExcluded = exclude === undefined ? () => false : filterOf(exclude)
  const operations: ReadOperation[] = []
  const resolved = (node: unknown, place: string, what: string): Node | undefined => {
    try {
      return document.resolve(node)
    } catch (error) {
      const message = `${what} is skipped: ${(error as Error).message}`
      findings.add({ place, message, fix: 'correct the reference' })
      return undefined
    }
  }
  const paths = resolved(document.root['paths'], pointerOf('paths'), 'the paths object') ?? {}
  for (const [key, item] of Object.entries(paths)) {
    if (key.startsWith('x-')) continue
    const path = key.startsWith('/') ? key : `/${key}`
    if (path !== key && path in paths) {
      findings.add({
        place: pointerOf('paths', key),
        message: `the path ${key} is skipped, because it matches the same requests as the path ${path}`,
      })
      continue
    }
    // Properties next to a `$ref` belong to the path item too.
    const { $ref: _, ...beside } = asNode(item)
    const pathItem: Node = { ...resolved(item, pointerOf('paths', key), `the path ${key}`), ...beside }
    for (const method of METHODS) {
      const given = pathItem[method.toLowerCase()]
      if (typeof given !== 'object' || given === null) continue
      const place = pointerOf('paths', key, method.toLowerCase())
      const node = resolved(given, place, `${method} ${path}`)
      if (!node) continue
      const operation: ReadOperation = {
        method,
        path,
        operationId: asText(node['operationId']),
        tags: asList(node['tags']).filter((tag) => typeof tag === 'string'),
        place,
        node,
        pathItem,
      }
      const isTagged = tags === undefined || operation.tags.some((tag) => tags.includes(tag))
      if (isTagged && isIncluded(operation) && !isExcluded(operation)) operations.push(operation)
    }
    // Methods that do not become fields, with their JSON pointers.
    const additional = Object.keys(asNode(pathItem['additionalOperations']))
    for (const [method, ...above] of [
      ...OTHER_METHODS.filter((method) => pathItem[method] !== undefined).map((method) => [method] as const),
      ...additional.map((method) => [method, 'additionalOperations'] as const),
    ])
      findings.add({
        place: pointerOf('paths', key, ...above, method),
        message: `${method.toUpperCase()} ${path} is skipped: only GET, POST, PUT, PATCH and DELETE become fields`,
      })
  }
  const tellSent = (what: 'callback' | 'webhook', node: Node, place: string): void => {
    for (const name of Object.keys(asNode(node[`${what}s`])))
      findings.add({
        place: `${place}${pointerOf(`${what}s`, name).slice(1)}`,
        message: `the ${what} ${name} is skipped, because the API sends it to your server`,
        fix: 'receive it in your own server, and publish an invalidation event from there',
      })
  }
  for (const { node, place } of operations) tellSent('callback', node, place)
  tellSent('webhook', document.root, pointerOf())
  if (operations.length === 0)
    findings.add({
      place: pointerOf('paths'),
      message: 'the document has no operation to import',
      fix: 'check the document and the options include, exclude and tags',
    })
  return operations
}

/** Returns a function that tests whether a filter selects an operation. */
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
