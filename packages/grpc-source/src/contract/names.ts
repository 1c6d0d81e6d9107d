import type { DescEnum, DescMessage } from '@bufbuild/protobuf'
import { groupBy } from '@vinyasa/source-kit'
import type { Finding } from '../errors.ts'
import { firstFree, qualifiedName, shortName, toGraphQLName, type TypeNaming } from './graphql-names.ts'
import type { Shapes } from './shapes.ts'
import { partsOf, type Part, type UsedTypes } from './used-types.ts'

/** Names that no message can have: GraphQL's own, and those of the scalars that stand for protobuf's. */
const RESERVED: readonly string[] =
  'Int Float String Boolean ID Query Mutation Subscription DateTime Duration JSON Bytes Upload FieldMask UInt32 Long BigInt'.split(
    ' ',
  )

/** Gives every type of the schema a GraphQL name of its own. */
export interface TypeNames {
  /** Returns the name of a message's output form, or of an enum. */
  of(desc: DescMessage | DescEnum): string
  /** Returns the name of a message's input form. */
  input(desc: DescMessage): string
  /** Returns the name of what is made of a part of a message. */
  part(part: Part): string
}

/**
 * Names the types that a schema uses, in their order: each by its short name where that is free, else with its package. So
 * the types of a method that comes behind all others change nobody's name; names that the config chooses come first.
 */
export function createTypeNames(options: {
  readonly naming: TypeNaming
  readonly used: UsedTypes
  readonly shapes: Shapes
  readonly findings: Finding[]
  /** Takes a line for each type whose short name another type has. */
  readonly notes: string[]
}): TypeNames {
  const { naming, used, shapes, findings, notes } = options
  const { typeNames: overrides } = shapes.options
  checkOverrides(overrides, findings)
  const names = new Map<string, string>()
  const owners = new Map<string, string>(RESERVED.map((name) => [name, 'a built-in type']))
  const renamed: { readonly key: string; readonly note: string }[] = []

  function nameOf(key: string, owner: string, candidates: readonly string[]): string {
    const known = names.get(key)
    if (known !== undefined) return known
    const name = firstFree(candidates, (one) => owners.has(one))
    const [short = name] = candidates
    const rival = owners.get(short)
    if (rival !== undefined && rival !== owner) {
      const note = `${owner} is called "${name}", because ${rival} already has the name "${short}"`
      renamed.push({ key, note })
    }
    names.set(key, name)
    owners.set(name, owner)
    return name
  }

  function candidates(desc: DescMessage | DescEnum): readonly string[] {
    const override = overrides[desc.typeName]
    if (override !== undefined) return [override]
    const qualified = qualifiedName(desc)
    const spelled = toGraphQLName(desc.typeName.replaceAll('.', '_'))
    return naming === 'qualified' ? [qualified, spelled] : [shortName(desc), qualified, spelled]
  }

  const of = (desc: DescMessage | DescEnum): string => nameOf(desc.typeName, desc.typeName, candidates(desc))

  function input(desc: DescMessage): string {
    // An input of that name is called as it is, unless its output is.
    const isItself = (name: string): boolean => name.endsWith('Input') && owners.get(name) !== desc.typeName
    const wanted = candidates(desc).flatMap((name) =>
      isItself(name) ? [name] : [`${name}Input`, `${name}_Input`],
    )
    return nameOf(`input ${desc.typeName}`, desc.typeName, wanted)
  }

  function part({ of: message, key, name }: Part): string {
    const [short = ''] = candidates(message)
    const isInput = !names.has(message.typeName) && owners.get(short) === message.typeName
    return nameOf(key, message.typeName, [`${isInput ? short : of(message)}${name}`])
  }

  const isChosen = ({ typeName }: DescMessage | DescEnum): boolean => overrides[typeName] !== undefined
  for (const one of [...used.inOrder.filter(({ desc }) => isChosen(desc)), ...used.inOrder]) {
    if (one.as === 'input') input(one.desc)
    else if (one.as !== 'arguments') of(one.desc)
    for (const made of partsOf(one, shapes)) part(made)
  }
  // A message that is no output has a name for its parts alone.
  const shown = new Set(
    used.inOrder.filter(({ as }) => as !== 'arguments' && as !== 'input').map(({ desc }) => desc.typeName),
  )
  for (const { key, note } of renamed) if (key.includes(' ') || shown.has(key)) notes.push(note)
  return { of, input, part }
}

function checkOverrides(overrides: Readonly<Record<string, string>>, findings: Finding[]): void {
  for (const [name, rivals] of groupBy(Object.entries(overrides), ([, name]) => name)) {
    const owners = rivals.map(([typeName]) => typeName)
    const message = `typeNames assigns the name "${name}" to ${owners.join(' and ')}`
    const path = ['typeNames', ...owners.slice(-1)]
    if (rivals.length > 1) findings.push({ message: `${message}; each type needs its own name`, path })
    if (RESERVED.includes(name))
      findings.push({ message: `${message}, but the name is reserved; choose another name`, path })
  }
}
