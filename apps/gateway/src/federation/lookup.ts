import { memberIn } from '@vinyasa/source-kit'
import {
  coerceInputValue,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLResolveInfo,
} from 'graphql'
import { doesNotFit, lacksKey } from './errors.ts'

export type Reference = Readonly<Record<string, unknown>>

/** A field of `Query` by which references to an entity are resolved. */
export interface Lookup {
  readonly field: GraphQLField<unknown, unknown>
  /** The argument, and the key's field that it takes. */
  readonly args: readonly (readonly [argument: string, key: string])[]
  /** The field of the items that is the key, if the lookup takes a list of keys. */
  readonly itemKey: string | undefined
}

/** Returns what a lookup gives for references, in their order; one that fails is an error in its place. */
export async function lookUp(
  lookup: Lookup,
  references: readonly Reference[],
  context: unknown,
  info: GraphQLResolveInfo,
): Promise<readonly unknown[]> {
  if (lookup.itemKey !== undefined) return lookUpAll(lookup, lookup.itemKey, references, context, info)
  return resolveEach(references, async (reference) => {
    const given = lookup.args.map(([argument, key]) => {
      const value = valueOf(reference, key)
      const isWrapped = isListType(getNullableType(typeOf(lookup, argument))) && !Array.isArray(value)
      return [argument, coerced(lookup, argument, isWrapped ? [value] : value)] as const
    })
    return call(lookup, new Map(given), context, info)
  })
}

/** An error in the place of each that fails. */
export function resolveEach(
  references: readonly Reference[],
  resolve: (reference: Reference) => Promise<unknown>,
): Promise<readonly unknown[]> {
  return Promise.all(references.map((one) => resolve(one).catch((error: unknown) => error)))
}

type Key = { readonly name: string; readonly value: unknown } | { readonly error: unknown }

/** One call for all whose keys the field takes. */
async function lookUpAll(
  lookup: Lookup,
  itemKey: string,
  references: readonly Reference[],
  context: unknown,
  info: GraphQLResolveInfo,
): Promise<readonly unknown[]> {
  const [[argument, key] = ['', '']] = lookup.args
  const keys = references.map((reference): Key => {
    try {
      const [value] = coerced(lookup, argument, [valueOf(reference, key)]) as readonly unknown[]
      return { name: nameOf(value), value }
    } catch (error) {
      return { error }
    }
  })
  const distinct = new Map(keys.flatMap((one) => ('error' in one ? [] : [[one.name, one.value]])))
  const find = await callForAll().catch((error: unknown) => () => error)
  return keys.map((one) => ('error' in one ? one.error : find(one.name)))

  async function callForAll(): Promise<(name: string) => unknown> {
    if (distinct.size === 0) return () => null
    const items = await call(lookup, new Map([[argument, [...distinct.values()]]]), context, info)
    const type = getNamedType(lookup.field.type)
    const member = isObjectType(type) ? memberIn(type, itemKey) : itemKey
    const byName = new Map<string, unknown>()
    for (const item of Array.isArray(items) ? (items as unknown[]) : [])
      if (typeof item === 'object' && item !== null && Object.hasOwn(item, member))
        byName.set(nameOf((item as Reference)[member]), item)
    return (name) => byName.get(name) ?? null
  }
}

/** By which a key is found again: numbers and texts are the same. */
function nameOf(key: unknown): string {
  return typeof key === 'object' ? JSON.stringify(key) : String(key)
}

function valueOf(reference: Reference, key: string): unknown {
  const value = Object.hasOwn(reference, key) ? reference[key] : undefined
  if (value === undefined || value === null) throw lacksKey(reference['__typename'], key)
  return value
}

function typeOf({ field }: Lookup, argument: string): GraphQLInputType {
  return field.args.find(({ name }) => name === argument)?.type as GraphQLInputType
}

function coerced(lookup: Lookup, argument: string, value: unknown): unknown {
  return coerceInputValue(value, typeOf(lookup, argument), (_path, _invalid, { message }) => {
    throw doesNotFit(`${lookup.field.name}(${argument}:)`, message)
  })
}

/** Resolves the field as if it stood at the root of an operation of its own. */
async function call(
  { field }: Lookup,
  given: ReadonlyMap<string, unknown>,
  context: unknown,
  info: GraphQLResolveInfo,
): Promise<unknown> {
  const { name, type, resolve } = field
  const args = Object.fromEntries(
    field.args.flatMap(({ name: argument, defaultValue }) => {
      if (given.has(argument)) return [[argument, given.get(argument)]]
      return defaultValue === undefined ? [] : [[argument, defaultValue]]
    }),
  )
  // Nothing of the selection below `_entities` is said of this field alone.
  const site = { ...info, fieldName: name, returnType: type, fieldNodes: [] }
  return resolve?.(undefined, args, context, site)
}
