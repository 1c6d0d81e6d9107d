import { pointerOf } from '../findings.ts'
import { asNode, type Node } from '../openapi-document.ts'

/** A document as OpenAPI 3. */
export interface Upgraded {
  readonly root: Node
  /** The reasons why parts of a Swagger 2 document cannot be converted, and are left out, by their places. */
  readonly unconverted: ReadonlyMap<string, string>
}

type Convert = (document: Node) => Node

/** The sections whose entries can be converted one by one; those that others refer to come first. */
const SECTIONS = ['definitions', 'parameters', 'responses', 'securityDefinitions', 'paths'] as const

/** Swagger 2 becomes OpenAPI 3, as far as it can be converted. @throws Error where it is neither */
export async function upgrade(root: Node): Promise<Upgraded> {
  if (String(root['swagger']).startsWith('2')) {
    const { upgradeFromTwoToThree } = await import('@scalar/openapi-upgrader/2.0-to-3.0')
    return converted(root, (document) => asNode(upgradeFromTwoToThree(structuredClone(document))))
  }
  if (typeof root['openapi'] === 'string' && root['openapi'].startsWith('3.'))
    return { root, unconverted: new Map() }
  throw new Error('it is neither OpenAPI 3 nor Swagger 2: it has no such version')
}

/** The converter gives all or nothing: where it fails, it is asked for each entry alone. */
function converted(root: Node, convert: Convert): Upgraded {
  const unconverted = new Map<string, string>()
  try {
    return { root: convert(root), unconverted }
  } catch {
    const kept: Record<string, unknown> = { ...root }
    for (const section of SECTIONS) delete kept[section]
    const reasonFor = (section: string, entries: Node): string | undefined => {
      // Sections that are large, and referred to by name alone, are not converted with each entry.
      const others = { ...kept, definitions: {}, securityDefinitions: {}, paths: {} }
      try {
        convert({ ...others, [section]: entries })
        return undefined
      } catch (error) {
        return (error as Error).message
      }
    }
    for (const section of SECTIONS) {
      const entries = Object.entries(asNode(root[section])).flatMap(([key, given]) => {
        if (reasonFor(section, { [key]: given }) === undefined) return [[key, given] as const]
        // The other operations of a path stay.
        const members = section === 'paths' ? Object.entries(asNode(given)) : []
        const left = members.filter(([member, value]) => {
          const reason = reasonFor(section, { [key]: { [member]: value } })
          if (reason !== undefined) unconverted.set(pointerOf(section, key, member), reason)
          return reason === undefined
        })
        if (members.length === 0)
          unconverted.set(pointerOf(section, key), 'it is nothing that can be converted')
        return left.length === 0 ? [] : [[key, Object.fromEntries(left)] as const]
      })
      if (root[section] !== undefined) kept[section] = Object.fromEntries(entries)
    }
    return { root: convert(kept), unconverted }
  }
}
