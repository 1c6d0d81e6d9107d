import type { InterfaceDefinition, MemberSigns, UnionDefinition } from '../declare/type-definitions.ts'

/**
 * Tells members apart: by the discriminator where it has a known value, else by their signs. One that says which for all
 * of them, and says something else, leaves nothing to tell; nor does one that is missing, of members without signs: such
 * an object is the rest, where there is one.
 */
export function compileTeller({
  discriminator,
  members,
}: UnionDefinition | InterfaceDefinition): (value: unknown) => string | undefined {
  const rest = discriminator?.rest
  const byValue = new Map(Object.entries(discriminator?.types ?? {}))
  // The type that must have more comes first: an object with all of it is rarely one that needs less.
  const signed = Object.entries(members)
    .filter(([, signs]) => !discriminator || weight(signs) > 0)
    .toSorted(([, a], [, b]) => weight(b) - weight(a))
  const saysAll = new Set(byValue.values()).size === Object.keys(members).length
  return (value) => {
    if (typeof value !== 'object' || value === null) return undefined
    const object = value as Readonly<Record<string, unknown>>
    if (discriminator) {
      const value = own(object, discriminator.key) ?? null
      const said = byValue.get(String(value))
      if (said !== undefined || (saysAll && value !== null)) return said ?? rest
    }
    return signed.find(([, signs]) => bears(object, signs))?.[0] ?? rest
  }
}

function weight({ required = [], constants = {} }: MemberSigns): number {
  return required.length + 1000 * Object.keys(constants).length
}

function bears(object: Readonly<Record<string, unknown>>, { required, constants }: MemberSigns): boolean {
  for (const key of required ?? []) if (!Object.hasOwn(object, key)) return false
  for (const [key, values] of Object.entries(constants ?? {}))
    if (!values.includes(own(object, key))) return false
  return true
}

function own(object: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}
