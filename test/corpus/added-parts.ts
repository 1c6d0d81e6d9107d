import type { OpenApiImport } from '@vinyasa/rest-connector'

type Node = Record<string, any>

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** The operations of a document, as `GET /pets`. */
export function operationsOf(document: Node): readonly string[] {
  return Object.entries((document['paths'] ?? {}) as Node).flatMap(([path, item]) =>
    METHODS.filter((method) => item?.[method] !== undefined).map(
      (method) => `${method.toUpperCase()} ${path}`,
    ),
  )
}

/**
 * The document with these operations alone and the schemas that they refer to, in its order; `last` behind all others.
 */
export function withOperations(
  document: Node,
  operations: ReadonlySet<string>,
  last: ReadonlySet<string> = new Set(),
): Node {
  const paths: Node = {}
  const add = (isWanted: (operation: string) => boolean): void => {
    for (const [path, item] of Object.entries((document['paths'] ?? {}) as Node)) {
      const others = Object.entries(item as Node).filter(([key]) => !METHODS.includes(key))
      const own = Object.entries(item as Node).filter(
        ([key]) => METHODS.includes(key) && isWanted(`${key.toUpperCase()} ${path}`),
      )
      if (own.length > 0)
        paths[path] = { ...Object.fromEntries(others), ...paths[path], ...Object.fromEntries(own) }
    }
  }
  add((operation) => operations.has(operation) && !last.has(operation))
  add((operation) => operations.has(operation) && last.has(operation))
  return pruned({ ...document, paths })
}

/** The document without the schemas that nothing refers to. */
function pruned(document: Node): Node {
  const schemas: Node = document['components']?.['schemas'] ?? {}
  const { schemas: _, ...components } = (document['components'] ?? {}) as Node
  const kept = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const member of Object.values(value)) {
      const name =
        typeof member === 'string' ? /^#\/components\/schemas\/([^/]+)$/.exec(member)?.[1] : undefined
      if (name === undefined) visit(member)
      else if (!kept.has(name)) {
        kept.add(name)
        visit(schemas[name])
      }
    }
  }
  visit({ ...document, components })
  const left = Object.entries(schemas).filter(([name]) => kept.has(name))
  return { ...document, components: { ...components, schemas: Object.fromEntries(left) } }
}

/** The names of fields and types that one import has and another has not for the same thing. */
export function changedNames(before: OpenApiImport, after: OpenApiImport): readonly string[] {
  const keyOf = ({ method = 'GET', path }: OpenApiImport['endpoints'][number]): string => `${method} ${path}`
  const keys = after.endpoints.map(keyOf)
  // Some documents tell operations apart by what is no part of a request.
  const isOwn = (key: string): boolean => keys.indexOf(key) === keys.lastIndexOf(key)
  const now = new Map(after.endpoints.map((one) => [keyOf(one), one]))
  const changed: string[] = []
  for (const one of before.endpoints) {
    if (!isOwn(keyOf(one))) continue
    const other = now.get(keyOf(one))
    const textOf = ({ name, returnType, args }: typeof one): string =>
      `${name}(${Object.entries(args ?? {}).map(([arg, given]) => `${arg}: ${JSON.stringify((given as any).type ?? given)}`)}): ${String(returnType)}`
    if (!other) changed.push(`field ${one.name} is not there`)
    else if (textOf(one) !== textOf(other)) changed.push(`field ${textOf(one)} is ${textOf(other)}`)
  }
  for (const [name, type] of Object.entries(before.types)) {
    const other = after.types[name]
    if (!other) changed.push(`type ${name} is not there`)
    else if (shapeOf(type) !== shapeOf(other)) changed.push(`type ${name} is another`)
  }
  return changed
}

/** What a type is, whatever interfaces it has. */
function shapeOf(type: object): string {
  return JSON.stringify({ ...type, interfaces: undefined })
}
