import { asList, type Node } from '../openapi-document.ts'

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
