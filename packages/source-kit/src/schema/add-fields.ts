import { keyed } from '@vinyasa/core'
import {
  GraphQLObjectType,
  isScalarType,
  Kind,
  parseType,
  specifiedScalarTypes,
  type GraphQLArgumentConfig,
  type GraphQLFieldConfig,
  type GraphQLScalarType,
  type GraphQLType,
  type TypeNode,
} from 'graphql'
import { fieldOf } from '../own/names.ts'
import { groupBy } from './group-by.ts'
import { declareType, fieldConflict, objectTypeOf, originOf, type Draft } from './merge-types.ts'
import type { ContributedArgument, ContributedField, Source } from './source.ts'
import { typeIn } from './type-of.ts'

/** Field that cannot be added yet. */
export interface Pending {
  readonly field: ContributedField
  /** Name of the missing type, or of the missing field of the parent. */
  readonly missing: string
}

/**
 * Adds the fields of a source that can be added, and tells which wait. Fields of the source that are there already are
 * left as they are. @throws SchemaConflictError when a field of somebody else is there
 */
export function addFields(draft: Draft, source: Source): readonly Pending[] {
  const pending: Pending[] = []
  const absent: ContributedField[] = []
  // Fields of one source name the same few types over and over.
  const parse = keyed((text: string) => parseType(text))
  for (const field of source.fields) {
    const missing = missingFor(draft, source, field, parse)
    if (missing !== undefined) pending.push({ field, missing })
    else if (!isPresent(draft, source, field)) absent.push(field)
  }
  const fresh = groupBy(absent, ({ parent }) => parent)
  // Types that fields refer to may be among those that are declared.
  for (const parent of fresh.keys())
    if (!objectTypeOf(draft, parent)) declareType(draft, parent, source.types?.get(parent))
  for (const [parent, fields] of fresh) {
    const type = objectTypeOf(draft, parent) as GraphQLObjectType
    const config = type.toConfig()
    // The types that they refer to may yet get fields, and are others then.
    const added = () => fields.map((field) => [field.name, fieldConfig(draft, source, field, parse)] as const)
    draft.types.set(
      type.name,
      new GraphQLObjectType({
        ...config,
        fields: () => ({ ...config.fields, ...Object.fromEntries(added()) }),
      }),
    )
  }
  return pending
}

type ParseType = (text: string) => TypeNode

function missingFor(
  draft: Draft,
  source: Source,
  field: ContributedField,
  parse: ParseType,
): string | undefined {
  const { parent, type, args = {}, requires = [] } = field
  const isKnown = (name: string): boolean =>
    draft.types.has(name) ||
    source.types?.has(name) === true ||
    specifiedScalarTypes.some((scalar) => scalar.name === name)
  const existing = objectTypeOf(draft, parent)
  if (!existing && !['Query', 'Mutation', 'Subscription'].includes(parent) && !isKnown(parent)) return parent
  const names = [type, ...Object.values(args).map((arg) => (typeof arg === 'string' ? arg : arg.type))]
    .filter((named) => typeof named === 'string')
    .map((text) => nameIn(parse(text)))
  const unknown = names.find((name) => !isKnown(name))
  if (unknown !== undefined) return unknown
  const lacking = requires.find(
    (name) =>
      !(existing && fieldOf(existing, name)) &&
      !source.fields.some((own) => own.parent === parent && own.name === name),
  )
  return lacking === undefined ? undefined : `${parent}.${lacking}`
}

function isPresent(draft: Draft, { id }: Source, { parent, name, origin }: ContributedField): boolean {
  const type = objectTypeOf(draft, parent)
  const present = type?.getFields()[name]
  if (!present) return false
  if (present.extensions['source'] === id) return true
  throw fieldConflict(`${parent}.${name}`, originOf(present.extensions, type), origin)
}

function fieldConfig(
  draft: Draft,
  { id, schema }: Source,
  field: ContributedField,
  parse: ParseType,
): GraphQLFieldConfig<unknown, unknown> {
  const toType = <T extends GraphQLType>(type: string | T): T =>
    typeof type === 'string'
      ? typeIn(parse(type), (name) => ownScalar(schema, name) ?? draft.types.get(name))
      : type
  const { description, deprecationReason, resolve, subscribe, origin, requires, extensions } = field
  const args = Object.entries(field.args ?? {}).map(([name, arg]): [string, GraphQLArgumentConfig] => {
    const full: ContributedArgument = typeof arg === 'string' ? { type: arg } : arg
    return [name, { ...full, type: toType(full.type) }]
  })
  return {
    type: toType(field.type),
    args: Object.fromEntries(args),
    description,
    deprecationReason,
    resolve,
    subscribe,
    extensions: { ...extensions, origin, source: id, ...(requires && { requires }) },
  }
}

/** The scalar that a source means by a name that others may define too. */
function ownScalar(schema: Source['schema'], name: string): GraphQLScalarType | undefined {
  const own = schema?.getType(name)
  return isScalarType(own) ? own : undefined
}

function nameIn(node: TypeNode): string {
  return node.kind === Kind.NAMED_TYPE ? node.name.value : nameIn(node.type)
}
