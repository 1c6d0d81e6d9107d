import { asNode, asText, type Node } from '../openapi-document.ts'

/** Formats that a scalar stands for, or that say nothing of a value. */
const SAID: ReadonlySet<string> = new Set(
  'date-time date uuid uri url email byte base64 binary password int8 int16 int32 int64 uint8 uint16 uint32 float double'.split(
    ' ',
  ),
)

/** Keywords that say which values go together, for which GraphQL has no types. */
const RULES = ['not', 'if', 'dependentRequired', 'contains', 'propertyNames', 'unevaluatedItems'] as const

/** What a schema says that no type does; one line for each, which is the same wherever it is said. */
export function unsaidIn(node: Node): readonly string[] {
  const rules = RULES.filter((keyword) => node[keyword] !== undefined && !isKept(keyword, node[keyword]))
  const format = asText(node['format'])
  const isUnknown = format !== undefined && !SAID.has(format) && format !== node['type']
  return [
    ...rules.map((keyword) => `the API must check "${keyword}"; the connector does not`),
    ...(isUnknown ? [`the format "${format}" is ignored, because no scalar type exists for it`] : []),
  ]
}

/** A rule that every value keeps, as every name of a member keeps that it is text. */
function isKept(keyword: string, rule: unknown): boolean {
  if (rule === true) return true
  const said = Object.entries(asNode(rule))
  const isName = keyword === 'propertyNames'
  return (
    typeof rule === 'object' && said.every(([key, value]) => isName && key === 'type' && value === 'string')
  )
}

const REMARKS: ReadonlySet<string> = new Set([
  'description',
  'title',
  'example',
  'examples',
  'externalDocs',
  'xml',
])

/** A part of a schema that says something to people alone. */
export function isRemark(part: unknown): boolean {
  const keys = Object.keys(asNode(part))
  return keys.length > 0 && keys.every((key) => REMARKS.has(key) || key.startsWith('x-'))
}

/** An option that says no more than what must be there; one that says nothing is any value, unless more stands beside it. */
export function isConstraint(option: unknown, isBeside: boolean): boolean {
  const keys = Object.keys(asNode(option)).filter((key) => key !== 'description' && key !== 'title')
  return (isBeside || keys.length > 0) && keys.every((key) => key === 'required' || key === 'not')
}
