import type { InterfaceDefinition, MemberSigns, UnionDefinition } from '../declare/type-definitions.ts'
import { RestConfigError } from '../errors.ts'

/**
 * Tells members apart: by the discriminator where it has a known value, else by their signs. One that says which for all
 * of them, and says something else, leaves nothing to tell; nor does one that is missing, of members without signs: such
 * an object is the rest, where there is one.
 * @throws RestConfigError if there is no discriminator, and two members have the same signs
 */
export function compileTeller(
  name: string,
  { discriminator, members }: UnionDefinition | InterfaceDefinition,
): (value: unknown) => string | undefined {
  const rest = discriminator?.rest
  const byValue = new Map(Object.entries(discriminator?.types ?? {}))
  const all = Object.entries(members)
  // The type that must have more comes first: an object with all of it is rarely one that needs less.
  const signed = all
    .filter(([, signs]) => !discriminator || weight(signs) > 0)
    .filter(([member, signs]) => all.every(([other, more]) => other === member || !areAlike(signs, more)))
    .toSorted(([, a], [, b]) => weight(b) - weight(a))
  const untold = all.map(([member]) => member).filter((member) => !signed.some(([one]) => one === member))
  if (!discriminator && untold.length > 0)
    throw new RestConfigError(
      `the members ${untold.join(' and ')} of ${name} cannot be distinguished; set a discriminator, set required or constants of each member to JSON properties or property values that the other members do not have, or use the type JSON for the field`,
      { path: ['types', name, 'members'] },
    )
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

/** Whether an object can have the signs of both, and none that only one of them has. */
function areAlike(a: MemberSigns, b: MemberSigns): boolean {
  const [{ constants: ofA = {} }, { constants: ofB = {} }] = [a, b]
  const keys = ({ required = [], constants = {} }: MemberSigns): string =>
    JSON.stringify([
      [...new Set([...required, ...Object.keys(constants)])].toSorted(),
      Object.keys(constants).toSorted(),
    ])
  return (
    keys(a) === keys(b) &&
    Object.keys(ofA).every((key) => ofA[key]?.some((value) => ofB[key]?.includes(value)))
  )
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
