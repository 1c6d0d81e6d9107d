import type { Node } from '../openapi-document.ts'
import type { Shape } from './shape.ts'

/** A schema's default, where it is a value of the GraphQL type; many documents have others. */
export function defaultOf(schema: Node, shape: Shape, type: string): unknown {
  const value = schema['default'] ?? shape.node['default']
  if (value === undefined || value === null) return undefined
  if (shape.kind === 'enum') return shape.values?.includes(value as never) ? value : undefined
  if (shape.kind !== 'scalar') return undefined
  switch (type) {
    case 'String':
      return typeof value === 'string' ? value : undefined
    case 'Boolean':
      return typeof value === 'boolean' ? value : undefined
    case 'Float':
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined
    case 'Int':
    case 'Long':
      return Number.isSafeInteger(value) ? value : undefined
    default:
      return undefined
  }
}
