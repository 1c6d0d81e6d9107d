import type { DescEnum, DescMessage } from '@bufbuild/protobuf'
import type { Finding } from '../errors.ts'
import { assignNames, groupBy, type NameWish } from '@vinyasa/source-kit'
import type { UsedTypes } from './used-types.ts'

/** Names that no message can have: GraphQL's own, and those of the scalars that stand for protobuf's. */
const RESERVED: readonly string[] =
  'Int Float String Boolean ID Query Mutation Subscription DateTime Duration JSON Bytes Upload FieldMask UInt32 Long BigInt'.split(
    ' ',
  )

/** How messages and enums are named: by their own name where it is free, or always with their package. */
export type TypeNaming = 'short' | 'qualified'

/** Gives every type of the schema a GraphQL name of its own. */
export interface TypeNames {
  /** Returns the name of a message's output form, or of an enum. */
  of(desc: DescMessage | DescEnum): string
  /** Returns the name of a message's input form. */
  input(desc: DescMessage): string
  /** A free name for what is made of parts of a message; the same for the same key. */
  claim(name: string, key: string): string
  /** The types whose short names others want too, with the names that they have. */
  readonly renamed: readonly { readonly typeName: string; readonly name: string }[]
}

/**
 * Names the types that a schema uses. A short name that several want, or that is taken, is given to none of them:
 * they are named with their package. So what a type is called depends on what there is, not on its order.
 */
export function createTypeNames(options: {
  readonly overrides: Readonly<Record<string, string>>
  readonly naming: TypeNaming
  readonly used: UsedTypes
  readonly findings: Finding[]
}): TypeNames {
  const { overrides, naming, used, findings } = options
  checkOverrides(overrides, findings)
  const candidates = (desc: DescMessage | DescEnum): readonly string[] => {
    const override = overrides[desc.typeName]
    if (override !== undefined) return [override]
    const qualified = qualifiedName(desc)
    const spelled = toGraphQLName(desc.typeName.replaceAll('.', '_'))
    return naming === 'qualified' ? [qualified, spelled] : [shortName(desc), qualified, spelled]
  }
  const outputs: NameWish[] = [...used.outputs, ...used.enums].map((desc) => ({
    key: desc.typeName,
    candidates: candidates(desc),
  }))
  const outputTypes = new Set<DescMessage | DescEnum>(used.outputs)
  const inputs: NameWish[] = [...used.inputs].map((desc) => ({
    key: inputKey(desc),
    candidates: candidates(desc).flatMap((name) =>
      name.endsWith('Input') && !outputTypes.has(desc) ? [name] : [`${name}Input`, `${name}_Input`],
    ),
  }))
  const wishes = [...outputs, ...inputs]
  const assigned = new Map(assignNames(wishes, new Set(RESERVED)))
  const owners = new Map<string, string>([...assigned].map(([key, name]) => [name, key]))
  for (const name of RESERVED) owners.set(name, `scalar ${name}`)

  function claim(name: string, key: string): string {
    let free = name
    while (owners.has(free) && owners.get(free) !== key) free = `${free}_`
    owners.set(free, key)
    return free
  }

  /** Returns the name of a type. A type that nothing exposed reaches gets one when it is first asked for. */
  function nameOf(key: string, wanted: () => string): string {
    let name = assigned.get(key)
    if (name === undefined) assigned.set(key, (name = claim(wanted(), key)))
    return name
  }

  return {
    of: (desc) => nameOf(desc.typeName, () => candidates(desc)[0] ?? desc.name),
    input: (desc) => nameOf(inputKey(desc), () => `${candidates(desc)[0] ?? desc.name}Input`),
    claim,
    renamed: outputs.flatMap(({ key, candidates: [first] }) => {
      const name = assigned.get(key)
      return name === undefined || name === first ? [] : [{ typeName: key, name }]
    }),
  }
}

function checkOverrides(overrides: Readonly<Record<string, string>>, findings: Finding[]): void {
  for (const [name, rivals] of groupBy(Object.entries(overrides), ([, name]) => name)) {
    const owners = rivals.map(([typeName]) => typeName).join(' and ')
    if (rivals.length > 1) findings.push({ message: `typeNames gives the name "${name}" to ${owners}` })
    if (RESERVED.includes(name))
      findings.push({ message: `typeNames gives the name "${name}" to ${owners}, but it is not free` })
  }
}

function inputKey(desc: DescMessage): string {
  return `input ${desc.typeName}`
}

/** The names of its parents and its own, joined. */
export function shortName(desc: DescMessage | DescEnum): string {
  return toGraphQLName(nestedName(desc))
}

/** The same behind its package: `GoogleTypeDateTime`. */
function qualifiedName(desc: DescMessage | DescEnum): string {
  const parts = desc.file.proto.package.split('.').flatMap((part) => part.split('_'))
  return toGraphQLName(parts.map(capitalize).join('') + nestedName(desc))
}

function nestedName(desc: DescMessage | DescEnum): string {
  return desc.parent ? nestedName(desc.parent) + desc.name : desc.name
}

/** Makes any proto name a legal GraphQL name; two leading underscores are GraphQL's own. */
export function toGraphQLName(name: string): string {
  const legal = name.replace(/[^_0-9A-Za-z]/g, '_').replace(/^_{2,}/, '_')
  return /^[0-9]/.test(legal) || legal === '' ? `_${legal}` : legal
}

export function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** `iamPolicy` for `IAMPolicy`: all of a leading abbreviation goes down. */
export function decapitalize(name: string): string {
  return name.replace(/^[A-Z]+(?=[A-Z][a-z]|[^A-Za-z]|$)|^[A-Z]/, (start) => start.toLowerCase())
}

export function uncapitalize(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1)
}

/** `USER_STATUS_` for `UserStatus`: the prefix that style guides give to an enum's values. */
export function enumPrefix(enumName: string): string {
  return `${enumName
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toUpperCase()}_`
}
