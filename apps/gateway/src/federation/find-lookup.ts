import { memberOf } from '@vinyasa/source-kit'
import {
  getNamedType,
  getNullableType,
  isListType,
  isRequiredArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isObjectType,
  Kind,
  parse,
  type FieldNode,
  type SelectionSetNode,
} from 'graphql'
import { didYouMean } from '../coordinates.ts'
import type { Lookup } from './lookup.ts'
import type { FederationEntity } from './types.ts'

/** Told of what is wrong with an entity, and in which of its settings. */
export type Report = (message: string, inside?: readonly PropertyKey[]) => undefined

type Arguments = Lookup['args']

/** The one field that gives a type by the fields of its key. Null: there is a mistake, which was reported. */
export function foundLookup(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  keys: readonly string[],
  report: Report,
): Lookup | undefined | null {
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {}).filter(
    (field) =>
      getNullableType(field.type) === type &&
      keys.every((key) => field.args.some(({ name }) => name === key)) &&
      field.args.every((arg) => keys.includes(arg.name) || !isRequiredArgument(arg)),
  )
  const [field, ...others] = fields
  if (!field) return undefined
  if (others.length > 0) {
    report(
      `${fields.map(({ name }) => `Query.${name}`).join(' and ')} return ${type.name} for the same key; set federation.entities.${type.name}.field to the field that resolves references`,
    )
    return null
  }
  return { field, args: keys.map((key) => [key, key] as const), itemKey: undefined }
}

/** The field that the config names for a key. Null: there is a mistake, which was reported. */
export function namedLookup(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  { field: name, args: given, itemKey }: FederationEntity,
  key: string,
  report: Report,
): Lookup | null {
  const fields = schema.getQueryType()?.getFields() ?? {}
  const keys = topLevel(key)
  const field = Object.hasOwn(fields, String(name)) ? fields[String(name)] : undefined
  if (!field)
    return mistake(`Query has no field "${String(name)}"${didYouMean(String(name), Object.keys(fields))}`)
  if (getNamedType(field.type) !== type)
    return mistake(
      `Query.${field.name} returns ${String(field.type)}, not ${type.name}; choose a field that returns ${type.name}`,
    )
  const isList = isListType(getNullableType(field.type))
  if (isList && isComposite(key))
    return mistake(
      `Query.${field.name} returns a list, so the first key must be one field without subfields, got "${key}"; choose a field that returns one ${type.name}, or change the first key`,
    )
  const args = Object.entries(given ?? Object.fromEntries(keys.map((one) => [one, one])))
  const problem = argumentProblem(field, args, keys) ?? (isList ? listProblem(field, args) : undefined)
  if (problem !== undefined) return mistake(problem, given ? ['args'] : ['field'])
  if (!isList)
    return itemKey === undefined
      ? { field, args, itemKey }
      : mistake(
          `itemKey requires a field that returns a list, but Query.${field.name} returns one ${type.name}; remove itemKey`,
          ['itemKey'],
        )
  const own = itemKey ?? (args[0]?.[1] as string)
  const direct = Object.values(type.getFields())
    .filter((one) => isDirect(one))
    .map((one) => one.name)
  const ofItem = Object.hasOwn(type.getFields(), own) ? type.getFields()[own] : undefined
  if (!ofItem)
    return mistake(
      `itemKey: ${type.name} has no field "${own}"${didYouMean(own, direct) || (direct.length > 0 ? `; expected one of ${direct.join(', ')}` : '')}`,
      [itemKey === undefined ? 'field' : 'itemKey'],
    )
  if (isDirect(ofItem)) return { field, args, itemKey: own }
  const fix =
    direct.length > 0
      ? `set itemKey to the field that has the same value (one of ${direct.join(', ')}), or `
      : ''
  return mistake(
    `${type.name}.${own} has a resolver, so the gateway cannot match the items of Query.${field.name} by this field; ${fix}choose a field that returns one ${type.name}`,
  )

  function mistake(message: string, inside: readonly PropertyKey[] = ['field']): null {
    report(message, inside)
    return null
  }
}

/** Whether the value of a field is a property of its object. */
function isDirect(field: GraphQLField<unknown, unknown>): boolean {
  return !field.resolve || memberOf(field) !== undefined
}

function listProblem(field: GraphQLField<unknown, unknown>, args: Arguments): string | undefined {
  const place = `Query.${field.name}`
  const [[argument] = [''], ...others] = args
  if (args.length === 0 || others.length > 0)
    return `${place} returns a list, so args must set only the argument that takes all keys`
  const type = field.args.find(({ name }) => name === argument)?.type
  return type && !isListType(getNullableType(type))
    ? `${place} returns a list, but ${place}(${argument}:) takes ${String(type)} instead of a list; set args to an argument that takes all keys, or choose a field that returns one object`
    : undefined
}

function argumentProblem(
  field: GraphQLField<unknown, unknown>,
  args: Arguments,
  keys: readonly string[],
): string | undefined {
  const known = field.args.map(({ name }) => name)
  const place = `Query.${field.name}`
  for (const [argument, key] of args) {
    if (!known.includes(argument))
      return known.length === 0
        ? `${place} has no arguments, so it cannot take a key; choose a field that takes the key as an argument`
        : `${place} has no argument "${argument}", only ${known.join(', ')}; set args to the argument that takes the key, for example { ${known[0]}: ${key} }`
    if (!keys.includes(key))
      return `args.${argument} must be a top-level field of the first key (${keys.join(', ')}), got "${key}"`
  }
  const missing = field.args.find(
    (arg) => isRequiredArgument(arg) && !args.some(([name]) => name === arg.name),
  )
  return (
    missing &&
    `${place} requires the argument "${missing.name}"; set args.${missing.name} to a field of the key, or choose a different field`
  )
}

/** Returns what is wrong with the fields that a key selects of its type; undefined: nothing. */
export function unknownIn(type: GraphQLObjectType, key: string): string | undefined {
  const selection = selectionOf(key)
  return selection
    ? missing(type, selection)
    : 'is not a valid field selection; expected fields such as "id" or "org { id } number"'

  function missing(parent: GraphQLObjectType, { selections }: SelectionSetNode): string | undefined {
    for (const node of selections) {
      if (node.kind !== Kind.FIELD) return 'can select only fields'
      const fields = parent.getFields()
      const field = Object.hasOwn(fields, node.name.value) ? fields[node.name.value] : undefined
      if (!field) return `selects ${parent.name}.${node.name.value}, which is not in the schema`
      const below = getNamedType(field.type)
      const found = node.selectionSet && isObjectType(below) ? missing(below, node.selectionSet) : undefined
      if (found !== undefined) return found
    }
    return undefined
  }
}

/** The fields of a key's own level. */
export function topLevel(key: string): readonly string[] {
  return (selectionOf(key)?.selections ?? []).map((node) => (node as FieldNode).name.value)
}

/** Whether a key is more than one field. */
function isComposite(key: string): boolean {
  const [first, ...others] = selectionOf(key)?.selections ?? []
  return others.length > 0 || (first?.kind === Kind.FIELD && first.selectionSet !== undefined)
}

function selectionOf(key: string): SelectionSetNode | undefined {
  try {
    const [definition] = parse(`{ ${key} }`, { noLocation: true }).definitions
    return definition?.kind === Kind.OPERATION_DEFINITION ? definition.selectionSet : undefined
  } catch {
    return undefined
  }
}
