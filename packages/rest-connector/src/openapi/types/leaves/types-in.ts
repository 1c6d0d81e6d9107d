import { asList, asNode, asText, type Node } from '../../openapi-document.ts'

const NUMBERS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [8, 16, 32, 64].flatMap((bits) => [`int${bits}`, `uint${bits}`]).map((name) => [name, 'integer']),
  ),
  float: 'number',
  double: 'number',
}

/**
 * The types that a schema lists, besides null, or that its other keywords are of. ASP.NET Core says of numbers that they may come as text, too, and leaves
 * their type out where OpenAPI 3.0 has no word for it: by their format they are numbers.
 */
export function typesIn(node: Node): readonly string[] {
  const types = [node['type']].flat().filter((type) => typeof type === 'string' && type !== 'null')
  const format = asText(node['format']) ?? ''
  const number = Object.hasOwn(NUMBERS, format) ? NUMBERS[format] : undefined
  const isNumber = number !== undefined && types.every((type) => type === number || type === 'string')
  if (isNumber && types.length !== 1) return [number]
  return types.length > 0 ? (types as string[]) : impliedTypes(node)
}

function impliedTypes(node: Node): readonly string[] {
  if (node['properties'] !== undefined) return ['object']
  if (node['items'] !== undefined || node['prefixItems'] !== undefined) return ['array']
  return Object.keys(asNode(node['additionalProperties'])).length > 0 ? ['object'] : []
}

/** Tells if schemas that all hold for one value give types that no value has at once, as far as it is known. */
export function tellConflict(what: string, nodes: readonly Node[], tell: (message: string) => void): void {
  const types = nodes.map(roughTypesIn).filter((some) => some.length > 0)
  if (types.every((some) => types.every((more) => some.some((type) => more.includes(type))))) return
  const listed = [...new Set(types.map((some) => some.join(' or ')))].join(', ')
  tell(
    `the parts of an allOf declare incompatible types for ${what}: ${listed}; only one of these types is used, so correct the schema`,
  )
}

function roughTypesIn(node: Node): readonly string[] {
  const values = 'const' in node ? [node['const']] : asList(node['enum'])
  const given = typesIn(node)
  const types = given.length > 0 ? given : values.flatMap((value) => (value === null ? [] : typeof value))
  return types.map((type) => (type === 'integer' ? 'number' : type))
}
