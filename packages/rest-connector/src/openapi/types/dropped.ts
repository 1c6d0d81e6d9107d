import { asNode, type Node } from '../openapi-document.ts'
import type { ReadShape, Shape } from './shape.ts'

/** Members of objects that have no field, and how they come to have one. */
export interface Dropped {
  readonly message: string
  readonly mend: string
}

export function droppedOfObject(node: Node): Dropped | undefined {
  const isAllowed = Object.values(asNode(node['patternProperties'])).some((schema) => schema !== false)
  const isLeft = Object.keys(asNode(node['unevaluatedProperties'])).length > 0
  if ((!isAllowed && !isLeft) || takesOthers(node)) return undefined
  return {
    message: `properties that only ${isAllowed ? 'patternProperties' : 'unevaluatedProperties'} describes`,
    mend: 'declare additionalProperties in the schema to get a field with these properties',
  }
}

/** What a choice lets be in each of its options, which is in them only where the choice has properties itself. */
export function droppedOfChoice(shape: Shape, read: ReadShape): Dropped | undefined {
  const choices = new Set([shape])
  for (const { variants = [] } of choices)
    for (const one of variants.map(read)) if (one.kind === 'variants') choices.add(one)
  const isDropped = [...choices].some(
    ({ node }) =>
      (node['oneOf'] ?? node['anyOf']) !== undefined &&
      takesOthers(node) &&
      Object.keys(asNode(node['properties'])).length === 0,
  )
  if (!isDropped) return undefined
  return {
    message: 'properties that additionalProperties describes next to oneOf or anyOf',
    mend: 'declare additionalProperties in each schema of oneOf or anyOf to get a field with these properties',
  }
}

function takesOthers({ additionalProperties: others }: Node): boolean {
  return others !== undefined && others !== false
}
