import { asList, asNode, type OpenApiDocument } from '../../src/openapi/openapi-document.ts'

/** A value that a JSON schema allows: the examples of its leaves where they have one. */
export function sampleOf(schema: unknown, document: OpenApiDocument, depth = 0): unknown {
  const node = document.resolve(asNode(schema))
  // Examples of whole objects and lists often break their own schema.
  if (node['example'] !== undefined && typeof node['example'] !== 'object') return node['example']
  const allOf = asList(node['allOf'])
  if (allOf.length > 0) {
    const parts = [...allOf, { ...node, allOf: undefined }].map((part) => sampleOf(part, document, depth + 1))
    return Object.assign({}, ...parts.map((part) => (typeof part === 'object' ? part : {})))
  }
  const [option] = [...asList(node['oneOf']), ...asList(node['anyOf']), ...asList(node['enum'])]
  if (option !== undefined) return typeof option === 'object' ? sampleOf(option, document, depth + 1) : option
  const type = [node['type']].flat().find((one) => one !== 'null')
  switch (type) {
    case 'string':
      return 'text'
    case 'integer':
      return 7
    case 'number':
      return 7.5
    case 'boolean':
      return true
    case 'array':
      return depth > 6 ? [] : [sampleOf(node['items'], document, depth + 1)]
    default:
      return Object.fromEntries(
        Object.entries(asNode(node['properties'])).map(([key, property]) => [
          key,
          sampleOf(property, document, depth + 1),
        ]),
      )
  }
}
