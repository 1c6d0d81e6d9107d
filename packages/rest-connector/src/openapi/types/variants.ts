import type { MemberSigns } from '../../declare/type-definitions.ts'
import { camel, legal, pascal } from '../names.ts'
import { asList, asNode, asText } from '../openapi-document.ts'
import { discriminatorIn } from './discriminator.ts'
import type { ReadShape, Shape } from './shape.ts'
import { inside, type Place } from './type-names.ts'

/** One of several things that a value can be. */
export interface Variant {
  readonly schema: unknown
  readonly shape: Shape
}

export interface Signs {
  /** By the variants' places. */
  readonly members: readonly MemberSigns[]
  readonly discriminator?: { readonly key: string; readonly variants: ReadonlyMap<string, number> }
  /** Values of the discriminator that are mapped to none of the variants. */
  readonly unmapped: readonly string[]
}

/** Finds what tells object variants apart; undefined: nothing does. */
export function tellMembers(
  node: Readonly<Record<string, unknown>>,
  variants: readonly Variant[],
  read: ReadShape,
): Signs | undefined {
  const discriminator = discriminatorOf(node, variants, read)
  const facts = variants.map(({ shape }) => factsOf(shape, read))
  const members = facts.map(({ required, constants }) => ({
    ...(required.length > 0 && { required }),
    ...(Object.keys(constants).length > 0 && { constants }),
  }))
  const isTold =
    discriminator !== undefined && new Set(discriminator.variants.values()).size === variants.length
  const areApart = facts.every((a, index) => facts.every((b, other) => other <= index || isApart(a, b)))
  if (!isTold && !areApart) return undefined
  return { members, ...(discriminator && { discriminator }), unmapped: discriminator?.unmapped ?? [] }
}

interface Facts {
  readonly properties: ReadonlySet<string>
  readonly required: readonly string[]
  readonly constants: Readonly<Record<string, readonly unknown[]>>
}

function factsOf({ node }: Shape, read: ReadShape): Facts {
  const properties = asNode(node['properties'])
  const required = asList(node['required']).filter((key) => typeof key === 'string')
  const constants: Record<string, readonly unknown[]> = {}
  for (const key of required) {
    const values = Object.hasOwn(properties, key) ? read(properties[key]).values : undefined
    if (values) constants[key] = values
  }
  return { properties: new Set(Object.keys(properties)), required, constants }
}

/** By constants that no value has both, or by something that one must have and the other has not. */
function isApart(a: Facts, b: Facts): boolean {
  for (const [key, values] of Object.entries(a.constants))
    if (b.constants[key] && !values.some((value) => b.constants[key]?.includes(value))) return true
  return a.required.some((key) => !b.properties.has(key)) || b.required.some((key) => !a.properties.has(key))
}

function discriminatorOf(
  node: Readonly<Record<string, unknown>>,
  variants: readonly Variant[],
  read: ReadShape,
): (NonNullable<Signs['discriminator']> & Pick<Signs, 'unmapped'>) | undefined {
  const discriminator = discriminatorIn(node)
  if (!discriminator) return undefined
  const { key, mapping } = discriminator
  const byName = new Map(
    variants.flatMap(({ schema, shape }, index) => {
      // Properties that stand beside the schema of a variant have put its reference into `allOf`.
      const parts = [schema, ...asList(asNode(schema)['allOf'])]
      const refs = [...parts.map((part) => asText(asNode(part)['$ref'])), shape.ref]
      return refs.flatMap((ref) => (ref === undefined ? [] : [[lastStep(ref), index] as const]))
    }),
  )
  const stated = Object.entries(mapping).flatMap(([value, ref]) => {
    const index = byName.get(lastStep(String(ref)))
    return index === undefined ? [] : [[value, index] as const]
  })
  const named = new Set(stated.map(([, index]) => index))
  const implied = [...byName].filter(([, index]) => !named.has(index))
  const mapped = new Set(stated.map(([value]) => value))
  const unmapped = Object.keys(mapping).filter((value) => !mapped.has(value))
  return { key, variants: new Map([...implied, ...valuesOf(key, variants, read), ...stated]), unmapped }
}

/** Returns the values that the variants themselves list for the discriminator, each of one variant only. */
function valuesOf(
  key: string,
  variants: readonly Variant[],
  read: ReadShape,
): readonly (readonly [string, number])[] {
  const owners = new Map<string, number>()
  const shared = new Set<string>()
  for (const [index, { shape }] of variants.entries()) {
    const properties = asNode(shape.node['properties'])
    const values = Object.hasOwn(properties, key) ? (read(properties[key]).values ?? []) : []
    for (const value of values.map(String))
      if (owners.has(value)) shared.add(value)
      else owners.set(value, index)
  }
  return [...owners].filter(([value]) => !shared.has(value))
}

function lastStep(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1).replace(/\.\w+$/, '')
}

/** Names of the fields of which a client gives one. */
export function optionNames(variants: readonly Variant[], types: readonly string[]): readonly string[] {
  const used = new Set<string>()
  return variants.map(({ schema, shape }, index) => {
    const title = asText(asNode(schema)['title'])
    const ref = shape.ref ?? asText(asNode(schema)['$ref'])
    const wanted =
      legal(camel(title ?? (ref === undefined ? kindName(shape, types[index] ?? '') : lastStep(ref)))) ||
      'value'
    let name = wanted
    for (let number = 2; used.has(name); number++) name = `${wanted}${number}`
    used.add(name)
    return name
  })
}

function kindName({ kind }: Shape, type: string): string {
  if (kind === 'object' || kind === 'variants') return 'object'
  const lists = type.split('[').length - 1
  const named = type.replaceAll(/[[\]!]/g, '').replace(/(Input|Entry)+$/, '')
  return `${named}${'List'.repeat(lists)}`
}

/** The variants, those of variants in their place, each once. */
export function flattened(
  shape: Shape,
  read: ReadShape,
  seen: Set<Shape['node']> = new Set(),
): readonly Variant[] {
  if (seen.has(shape.node)) return []
  seen.add(shape.node)
  return (shape.variants ?? []).flatMap((schema): readonly Variant[] => {
    const inner = read(schema)
    if (inner.kind === 'variants') return flattened(inner, read, seen)
    if (seen.has(inner.node)) return []
    seen.add(inner.node)
    return [{ schema, shape: inner }]
  })
}

/** The place of a variant below that of its union; one without a name of its own is called by its title or its number. */
export function variantPlace({ schema, shape }: Variant, index: number, union: Place, owner: string): Place {
  const title = pascal(asText(asNode(schema)['title']) ?? asText(shape.node['title']) ?? '')
  const word = shape.ref === undefined ? title || `Variant${index + 1}` : ''
  return inside(union, `variant ${index}`, word, owner)
}
