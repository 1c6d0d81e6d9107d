/** An object of a document that a test changes. */
export type Node = Record<string, any>

/** An object schema that an operation sends or answers with, as a type with fields. */
export interface SchemaPlace {
  readonly way: 'in' | 'out'
  readonly node: Node
  /** Steps to it, for people to read. */
  readonly path: string
  /** The reference that names it. */
  readonly ref: string | undefined
}

export interface OperationPlace {
  readonly method: string
  readonly node: Node
  readonly path: string
}

export interface Places {
  readonly schemas: readonly SchemaPlace[]
  readonly operations: readonly OperationPlace[]
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** Places of a document below which whatever is said is a part of the schema: choices, which may be JSON, are left alone. */
export function placesIn(document: Node, isLeftOut: (path: string) => boolean): Places {
  const schemas: SchemaPlace[] = []
  const operations: OperationPlace[] = []
  const seen = { in: new Set<Node>(), out: new Set<Node>() }

  function resolve(node: unknown): { readonly node: Node; readonly ref: string | undefined } {
    let at = (node ?? {}) as Node
    let ref: string | undefined
    for (let hops = 0; typeof at['$ref'] === 'string' && hops < 20; hops++) {
      ref = at['$ref'] as string
      if (!ref.startsWith('#/')) return { node: {}, ref }
      const steps = ref.slice(2).split('/').map(unescaped)
      at = (steps.reduce<any>((value, step) => value?.[step], document) ?? {}) as Node
    }
    return { node: at, ref }
  }

  function visit(schema: unknown, way: 'in' | 'out', path: string, depth: number): void {
    const { node, ref } = resolve(schema)
    if (seen[way].has(node) || depth > 6 || isOdd(node)) return
    seen[way].add(node)
    if (node['type'] === 'array') return visit(node['items'], way, `${path}/items`, depth + 1)
    const properties = Object.entries((node['properties'] ?? {}) as Node)
    const isShown = ([, one]: [string, any]): boolean =>
      !resolve(one).node[way === 'in' ? 'readOnly' : 'writeOnly']
    if (!properties.some(isShown)) return
    schemas.push({ way, node, path, ref })
    for (const entry of properties)
      if (isShown(entry)) visit(entry[1], way, `${path}/properties/${entry[0]}`, depth + 1)
  }

  for (const [path, item] of Object.entries((document['paths'] ?? {}) as Node))
    for (const method of METHODS) {
      const node = item?.[method] as Node | undefined
      const place = `${path} ${method}`
      if (!node || isLeftOut(place)) continue
      operations.push({ method, node, path: place })
      const body = Object.entries((resolve(node['requestBody']).node['content'] ?? {}) as Node)
      const [media, sent] = body[0] ?? []
      if (method !== 'get' && body.length === 1 && media === 'application/json')
        visit(sent['schema'], 'in', `${place} body`, 0)
      const answers = Object.entries((node['responses'] ?? {}) as Node).filter(([status]) =>
        status.startsWith('2'),
      )
      const content = Object.entries((resolve(answers[0]?.[1]).node['content'] ?? {}) as Node)
      if (answers.length === 1 && content.length === 1 && content[0]?.[0] === 'application/json')
        visit(content[0][1]['schema'], 'out', `${place} answer`, 0)
    }
  return { schemas, operations }
}

/** A schema that may be something else than a plain object or list. */
function isOdd(node: Node): boolean {
  if (['oneOf', 'anyOf', 'allOf', 'enum', 'const', 'discriminator', 'prefixItems'].some((key) => key in node))
    return true
  return node['type'] === 'array'
    ? node['items'] === undefined
    : ![undefined, 'object'].includes(node['type'])
}

function unescaped(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return step
  }
}
