import { asNode, asText, type Node } from '../openapi-document.ts'

/** The property that says which of several schemas an object is of. */
export interface Discriminator {
  readonly key: string
  /** Names or references of schemas by the property's values, besides the schemas' own names. */
  readonly mapping: Node
}

/** Returns what a schema says of it; in Swagger 2 that is the property's name alone. */
export function discriminatorIn(schema: Node): Discriminator | undefined {
  const given = schema['discriminator']
  const key = asText(given) ?? asText(asNode(given)['propertyName'])
  return key === undefined ? undefined : { key, mapping: asNode(asNode(given)['mapping']) }
}

/** Values that generators write at the schema itself: AutoRest, go-swagger, and what an `allOf` is united to. */
const VALUE_KEYS = ['x-discriminator-value', 'x-ms-discriminator-value', 'x-class'] as const

/** The discriminator's value that stands for a schema, where that says so itself. */
export function discriminatorValue(schema: unknown): string | undefined {
  const node = asNode(schema)
  return VALUE_KEYS.map((key) => asText(node[key])).find((value) => value !== undefined)
}
