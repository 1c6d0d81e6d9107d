import type { TypeDefinition } from '../../declare/type-definitions.ts'

/**
 * A schema's default as a value of the GraphQL type; undefined: it is none, as in many documents, or one of an object,
 * whose members would be sent where nobody gave them.
 */
export function defaultOf(
  value: unknown,
  type: string,
  definitions: ReadonlyMap<string, TypeDefinition>,
): unknown {
  if (value === undefined || value === null) return undefined
  const bare = type.replace(/!$/, '')
  if (bare.startsWith('[')) {
    if (!Array.isArray(value)) return undefined
    const items = value.map((item) => defaultOf(item, bare.slice(1, -1), definitions))
    return items.includes(undefined) ? undefined : items
  }
  const definition = definitions.get(bare)
  if (definition) return isOf(definition, value) ? value : undefined
  switch (bare) {
    case 'String':
      return typeof value === 'string' ? value : undefined
    case 'Boolean':
      return typeof value === 'boolean' ? value : undefined
    case 'Float':
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined
    case 'Int':
    case 'Long':
      return Number.isSafeInteger(value) ? value : undefined
    case 'JSON':
      return ['string', 'number', 'boolean'].includes(typeof value) ? value : undefined
    default:
      return undefined
  }
}

function isOf(definition: TypeDefinition, value: unknown): boolean {
  if (definition.kind === 'enum') return Object.values(definition.values).some((one) => one.value === value)
  if (definition.kind !== 'scalar') return false
  return typeof value === 'string' && new RegExp(definition.pattern ?? '').test(value)
}
