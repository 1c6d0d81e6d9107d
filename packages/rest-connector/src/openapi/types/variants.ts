import type { MemberSigns } from '../../declare/type-definitions.ts'
import { camel, freeName, legal, pascal } from '../names.ts'
import { asList, asNode, asText } from '../openapi-document.ts'
import { discriminatorIn, discriminatorValue } from './discriminator.ts'
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
  readonly discriminator?:
    | {
        readonly key: string
        readonly variants: ReadonlyMap<string, number>
        /** Values that are mapped to none of the variants. */
        readonly unmapped: readonly string[]
      }
    | undefined
}

/** Finds what tells object variants apart; undefined: nothing does. */
export function tellMembers(
  node: Readonly<Record<string, unknown>>,
  variants: readonly Variant[],
  read: ReadShape,
): Signs | undefined {
  const facts = variants.map(({ shape }) => factsOf(shape, read))
  const discriminator = discriminatorOf(node, variants, read) ?? tagOf(facts)
  const members = facts.map(({ required, constants }) => ({
    ...(required.length > 0 && { required }),
    ...(Object.keys(constants).length > 0 && { constants }),
  }))
  const isTold =
    discriminator !== undefined && new Set(discriminator.variants.values()).size === variants.length
  const areApart = facts.every((a, index) => facts.every((b, other) => other <= index || isApart(a, b)))
  if (!isTold && !areApart) return undefined
  return { members, discriminator }
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
  const hasMore = (one: Facts, other: Facts): boolean =>
    one.required.some((key) => !other.properties.has(key) && !other.required.includes(key))
  return hasMore(a, b) || hasMore(b, a)
}

/** A member that each variant must have with texts of its own, which serde and TypeScript call a tag. */
function tagOf(facts: readonly Facts[]): Signs['discriminator'] {
  const [first, ...others] = facts
  if (others.length === 0) return undefined
  for (const key of Object.keys(first?.constants ?? {})) {
    const all = facts.flatMap(({ constants }, index) =>
      (constants[key] ?? [undefined]).map((value) => [value, index] as const),
    )
    const values = new Set(all.map(([value]) => value))
    if (values.size < all.length || all.some(([value]) => typeof value !== 'string')) continue
    return { key, variants: new Map(all as readonly (readonly [string, number])[]), unmapped: [] }
  }
  return undefined
}

function discriminatorOf(
  node: Readonly<Record<string, unknown>>,
  variants: readonly Variant[],
  read: ReadShape,
): Signs['discriminator'] {
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
  const declared = variants.flatMap(({ shape }, index) => {
    const value = discriminatorValue(shape.node)
    return value === undefined ? [] : [[value, index] as const]
  })
  const named = new Set([...declared, ...stated].map(([, index]) => index))
  const implied = [...byName].filter(([, index]) => !named.has(index))
  const mapped = new Set(stated.map(([value]) => value))
  const unmapped = Object.keys(mapping).filter((value) => !mapped.has(value))
  return {
    key,
    variants: new Map([...implied, ...valuesOf(key, variants, read), ...declared, ...stated]),
    unmapped,
  }
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
    const word = title ?? (ref === undefined ? wordOf(schema, shape) : lastStep(ref))
    const wanted = legal(camel(word ?? kindName(shape, types[index] ?? ''))) || 'value'
    const name = freeName(wanted, (one) => used.has(one))
    used.add(name)
    return name
  })
}

/** What tells a variant without a name from the others: its tag, or the one schema that it is made of. */
function wordOf(schema: unknown, { node }: Shape): string | undefined {
  const required = asList(node['required'])
  const values = Object.entries(asNode(node['properties']))
    .filter(([key]) => required.includes(key))
    .map(([, property]) => constantOf(property))
  const tags = values.filter((value) => value !== undefined)
  if (tags.length === 1) return tags[0]
  const refs = asList(asNode(schema)['allOf']).flatMap((part) => asText(asNode(part)['$ref']) ?? [])
  return refs.length === 1 ? lastStep(refs[0] as string) : undefined
}

function constantOf(schema: unknown): string | undefined {
  const { const: constant, enum: values } = asNode(schema)
  const [only, ...others] = constant === undefined ? asList(values) : [constant]
  return others.length === 0 ? asText(only) : undefined
}

function kindName({ kind }: Shape, type: string): string {
  if (kind === 'object' || kind === 'variants') return 'object'
  const lists = type.split('[').length - 1
  const named = type.replaceAll(/[[\]!]/g, '').replace(/(?<!Input|Entry)(Input|Entry)+$/, '')
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

/** The place of a variant below that of its union; one without a name of its own is called by its title, its tag or its number. */
export function variantPlace({ schema, shape }: Variant, index: number, union: Place, owner: string): Place {
  const title = pascal(
    asText(asNode(schema)['title']) ?? asText(shape.node['title']) ?? wordOf(schema, shape) ?? '',
  )
  const word = shape.ref === undefined ? title || `Variant${index + 1}` : ''
  return inside(union, `variant ${index}`, word, owner)
}
