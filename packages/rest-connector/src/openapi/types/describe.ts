import { asList, asNode, asText, type Node } from '../openapi-document.ts'
import type { ReadShape } from './shape.ts'
import { isRemark } from './unsaid.ts'

export const DEPRECATED = 'Deprecated by the API.'

/** Returns what a schema says of itself to people. */
export function describe(node: Node): { readonly description?: string } {
  const description = asText(node['description'])?.trim()
  return description ? { description } : {}
}

/** The same, of a property; what its type says of itself is not repeated. */
export function describeMember(
  schema: unknown,
  read: ReadShape,
  isInput = false,
): { readonly description?: string; readonly deprecated?: string } {
  const node = asNode(schema)
  const shape = read(schema)
  const isNamed = shape.ref !== undefined && ['object', 'enum', 'variants'].includes(shape.kind)
  const remark = asList(node['allOf']).find(isRemark)
  const own = asText(node['description']) ?? asText(asNode(remark)['description'])
  const text = own ?? (isNamed ? undefined : asText(shape.node['description']))
  // A default that were sent would overwrite what a PATCH leaves alone: it is only told.
  const given = isInput ? (node['default'] ?? shape.node['default']) : undefined
  return {
    ...describeText(text, given),
    ...((node['deprecated'] ?? shape.node['deprecated']) === true && { deprecated: DEPRECATED }),
  }
}

/** A text, and below it a default that is not sent. */
export function describeText(text: string | undefined, given: unknown): { readonly description?: string } {
  const told = given === undefined || given === null ? '' : `Default: \`${JSON.stringify(given)}\`.`
  const description = [text?.trim(), told].filter(Boolean).join('\n\n')
  return description === '' ? {} : { description }
}

/** The properties of an object, without those that go the other way. */
export function propertiesOf(
  node: Node,
  otherWay: 'readOnly' | 'writeOnly',
  read: ReadShape,
): Map<string, unknown> {
  return new Map(
    Object.entries(asNode(node['properties'])).filter(
      ([, schema]) => asNode(schema)[otherWay] !== true && read(schema).node[otherWay] !== true,
    ),
  )
}
