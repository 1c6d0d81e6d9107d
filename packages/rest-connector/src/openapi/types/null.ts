import { asList, asNode, type Node, type OpenApiDocument } from '../openapi-document.ts'

const NULLABLE_ALONE: ReadonlySet<string> = new Set(['nullable', 'x-nullable', 'description', 'title'])

/** A schema that is nothing but null. */
export function isNull(node: Node): boolean {
  const values = 'const' in node ? [node['const']] : asList(node['enum'])
  return String(node['type']) === 'null' || (values.length > 0 && values.every((value) => value === null))
}

/** Before `type: 'null'` there was no way to write null: generators mean it with a schema that says no more than this. */
export function marksNullable(node: Node): boolean {
  const isBare = Object.keys(node).every((key) => NULLABLE_ALONE.has(key))
  return isBare && saysNull(node)
}

/** A schema that allows null beside whatever else. */
export function saysNull(node: Node): boolean {
  return (
    node['nullable'] === true ||
    node['x-nullable'] === true ||
    node['const'] === null ||
    [node['type']].flat().includes('null') ||
    asList(node['enum']).includes(null)
  )
}

/**
 * Whether a schema without null is, or is made of, one of those that are being read: of these nothing is known yet but that
 * they are objects.
 */
export function leadsTo(
  schema: unknown,
  open: ReadonlySet<Node>,
  document: OpenApiDocument,
  seen: Set<Node> = new Set(),
): boolean {
  const node = document.find(schema) ?? {}
  if (open.has(node)) return true
  if (seen.has(node) || marksNullable(node) || saysNull(node)) return false
  seen.add(node)
  return asList(node['allOf']).some((part) => leadsTo(part, open, document, seen))
}

/** Makes one schema of two, the same each time: an object may have such a property at every depth. */
export function createBoth(): (earlier: unknown, later: unknown) => Node {
  const known = new WeakMap<Node, WeakMap<Node, Node>>()
  return (earlier, later) => {
    const [one, other] = [asNode(earlier), asNode(later)]
    const made = known.get(one) ?? new WeakMap<Node, Node>()
    const both = made.get(other) ?? { allOf: [earlier, later] }
    known.set(one, made.set(other, both))
    return both
  }
}
