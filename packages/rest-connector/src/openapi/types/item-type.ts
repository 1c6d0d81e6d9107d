import { asList } from '../openapi-document.ts'
import type { ReadShape, Shape } from './shape.ts'

/** The type of all items of a list: those of a tuple have one where they are the same scalar. */
export function itemType({ node }: Shape, read: ReadShape, typeOf: (schema: unknown) => string): string {
  const { items, maxItems } = node
  const first = asList(node['prefixItems'])
  if (first.length === 0) return typeOf(items)
  const isWhole = items === false || (typeof maxItems === 'number' && maxItems <= first.length)
  const all = isWhole ? first : [...first, items]
  if (!all.every((schema) => read(schema).kind === 'scalar')) return 'JSON'
  const types = new Set(all.map(typeOf))
  return types.size === 1 ? ([...types][0] as string) : 'JSON'
}
