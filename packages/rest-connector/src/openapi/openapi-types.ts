import type { FieldDefinition } from '../declare/fields.ts'
import { asList, asNode, asText, type Node, type OpenApiDocument } from './openapi-document.ts'
import { toFieldName, toTypeName } from './openapi-names.ts'

export interface TypeSettings {
  readonly document: OpenApiDocument
  readonly prefix: string
  /** The kind of an `integer` without a format. */
  readonly integer: 'int' | 'long' | 'float'
  readonly trustRequired: boolean
}

/** A JSON schema as a response field. Each object type is written out once; after that its name is enough. */
export function fieldOf(
  schema: unknown,
  hint: string,
  settings: TypeSettings,
  written: Set<string>,
): FieldDefinition {
  const { document } = settings
  const node = withoutNull(asNode(schema), document)
  const target = flatten(document.resolve(node), document)
  const type = typeOf(target)
  if (type === 'array') {
    const item = fieldOf(target['items'], `${hint}Item`, settings, written)
    return { type: `[${item.type}]`, ...(item.fields && { fields: item.fields }) }
  }
  if (type === 'object') {
    const typeName = toTypeName(settings.prefix, refName(node) ?? hint)
    const properties = Object.entries(asNode(target['properties']))
    if (properties.length === 0) return { type: 'JSON' }
    if (written.has(typeName)) return { type: typeName }
    written.add(typeName)
    return {
      type: typeName,
      fields: fieldsOf(properties, asList(target['required']), typeName, settings, written),
    }
  }
  return { type: scalarOf(type, asText(target['format']), settings.integer) }
}

function fieldsOf(
  properties: readonly (readonly [string, unknown])[],
  required: readonly unknown[],
  typeName: string,
  settings: TypeSettings,
  written: Set<string>,
): Record<string, FieldDefinition> {
  const fields: Record<string, FieldDefinition> = {}
  // A type name that is derived from its place must not get the prefix twice.
  const inside = { ...settings, prefix: '' }
  for (const [key, schema] of properties) {
    const base = toFieldName(key)
    let name = base
    for (let n = 2; Object.hasOwn(fields, name); n++) name = `${base}${n}`
    const isRef = refName(withoutNull(asNode(schema), settings.document)) !== undefined
    const hint = isRef ? key : `${typeName}_${key}`
    const field = fieldOf(schema, hint, isRef || hasRefItems(schema) ? settings : inside, written)
    const isNonNull =
      settings.trustRequired &&
      required.includes(key) &&
      !isNullable(schema, settings.document) &&
      field.type !== 'JSON'
    const description = asText(settings.document.resolve(asNode(schema))['description'])
    fields[name] = {
      ...field,
      type: isNonNull ? `${field.type}!` : field.type,
      ...(description !== undefined && { description }),
      ...(name !== key && { key }),
    }
  }
  return fields
}

function hasRefItems(schema: unknown): boolean {
  const { items } = asNode(schema)
  return items !== undefined && (refName(asNode(items)) !== undefined || hasRefItems(items))
}

/** The component's name, for a `$ref` to one. */
function refName(node: Node): string | undefined {
  const match = /^#\/components\/schemas\/([^/]+)$/.exec(asText(node['$ref']) ?? '')
  return match?.[1] === undefined ? undefined : decodeURIComponent(match[1])
}

/** `oneOf` or `anyOf` of one schema and null, and `allOf` of one schema, are that schema. */
function withoutNull(node: Node, document: OpenApiDocument): Node {
  for (const keyword of ['oneOf', 'anyOf', 'allOf']) {
    const options = asList(node[keyword]).filter(
      (option) => typeOf(document.resolve(asNode(option))) !== 'null',
    )
    const [only] = options
    if (options.length === 1 && node['properties'] === undefined) return withoutNull(asNode(only), document)
  }
  return node
}

/** Unites what `allOf` splits. */
function flatten(node: Node, document: OpenApiDocument, depth = 0): Node {
  const parts = asList(node['allOf'])
  if (parts.length === 0 || depth > 20) return node
  const all = [...parts.map((part) => flatten(document.resolve(asNode(part)), document, depth + 1)), node]
  return {
    type: all.map(typeOf).find((type) => type !== undefined),
    items: all.map((part) => part['items']).find((items) => items !== undefined),
    properties: Object.assign({}, ...all.map((part) => asNode(part['properties']))) as unknown,
    required: all.flatMap((part) => asList(part['required'])),
  }
}

function typeOf(node: Node): string | undefined {
  const types = [node['type']].flat().filter((type) => type !== undefined)
  const named = types.filter((type) => type !== 'null')
  if (named.length === 1) return asText(named[0])
  if (named.length === 0 && types.length > 0) return 'null'
  return types.length === 0 && node['properties'] !== undefined ? 'object' : undefined
}

function isNullable(schema: unknown, document: OpenApiDocument): boolean {
  const node = asNode(schema)
  const target = document.resolve(node)
  const options = [...asList(node['oneOf']), ...asList(node['anyOf'])]
  return (
    target['nullable'] === true ||
    (Array.isArray(target['type']) && target['type'].includes('null')) ||
    options.some((option) => typeOf(document.resolve(asNode(option))) === 'null')
  )
}

function scalarOf(
  type: string | undefined,
  format: string | undefined,
  integer: TypeSettings['integer'],
): string {
  switch (type) {
    case 'string':
      return 'String'
    case 'boolean':
      return 'Boolean'
    case 'number':
      return 'Float'
    case 'integer':
      if (format === 'int64') return 'Long'
      return { int: 'Int', long: 'Long', float: 'Float' }[format === 'int32' ? 'int' : integer]
    default:
      return 'JSON'
  }
}

/** The GraphQL type of a parameter. */
export function argumentType(schema: unknown, settings: TypeSettings): string {
  const target = settings.document.resolve(withoutNull(asNode(schema), settings.document))
  const type = typeOf(target)
  if (type === 'array') return `[${argumentType(target['items'], settings)}]`
  return scalarOf(type, asText(target['format']), settings.integer)
}
