import { type GraphQLDirective, type GraphQLNamedType, type GraphQLSchema, isObjectType } from 'graphql'
import { addFields, type Pending } from './add-fields.ts'
import { addDirectives, addSchema, type Draft, draftOf, finish, objectTypeOf } from './merge-types.ts'
import type { Source } from './source.ts'

export interface Merged {
  readonly schema: GraphQLSchema
  /** Fields that could not be added because a type is missing. */
  readonly pending: readonly Pending[]
}

/**
 * Adds the types and fields of sources to a schema, or creates a schema from them. Existing parts are unchanged, so
 * it can run again after the schema changes. It returns the same schema if all parts are already present. A new
 * schema has its own type objects, which can be changed in place. It also contains `directives`.
 * @throws SchemaConflictError if two places define the same field
 */
export function mergeSources(
  base: GraphQLSchema | null,
  sources: readonly Source[],
  directives: readonly GraphQLDirective[] = [],
): Merged {
  const extending = sources.filter(({ id, extend }) => extend && base?.extensions[id] !== true)
  const { given, ...first } = mergeGiven(base, sources, directives, extending.length > 0)
  let merged: Merged = first
  for (const source of extending) {
    const schema = source.extend?.(merged.schema) ?? merged.schema
    // Marks the schema as extended by this source.
    schema.extensions = { ...schema.extensions, [source.id]: true }
    merged = { ...merged, schema }
    // An extension may add what fields have waited for.
    if (merged.pending.length > 0) merged = mergeGiven(merged.schema, sources, [], true)
  }
  const isOwn =
    merged.schema === base || !Object.values(merged.schema.getTypeMap()).some((type) => given.has(type))
  return isOwn ? merged : { ...merged, schema: finish(draftOf(merged.schema), merged.schema, false) }
}

function mergeGiven(
  base: GraphQLSchema | null,
  sources: readonly Source[],
  directives: readonly GraphQLDirective[],
  isStep: boolean,
): Merged & Pick<Draft, 'given'> {
  const draft = draftOf(base)
  const { given } = draft
  const before = [...draft.types.values()]
  for (const source of sources)
    if (source.schema && !(base && holds(base, source))) addSchema(draft, source.schema)
  let pending: readonly Pending[] = []
  let waiting: number
  do {
    waiting = pending.length
    pending = sources.flatMap((source) => addFields(draft, source))
  } while (pending.length > 0 && pending.length !== waiting)
  const after = [...draft.types.values()]
  const isSame = base && after.length === before.length && after.every((type, at) => type === before[at])
  if (isSame) return { schema: base, pending, given }
  addDirectives(draft, directives)
  const schema = finish(draft, base, isStep)
  const held = sources.flatMap(({ id, schema: own }) => (own ? [[id, own]] : []))
  schema.extensions = { ...schema.extensions, ...Object.fromEntries(held) }
  return { schema, pending, given }
}

/**
 * Whether the source's own schema is part of another: by its mark, or, where the mark was dropped, by its root fields and by
 * where fields of its types say that they come from.
 */
function holds(schema: GraphQLSchema, { id, schema: own }: Source): boolean {
  if (schema.extensions[id] !== undefined) return schema.extensions[id] === own
  const draft = draftOf(schema)
  const hasRoot = ['Query', 'Mutation', 'Subscription'].some((root) => {
    const present = objectTypeOf(draft, root)?.getFields() ?? {}
    return Object.values(present).some(({ extensions }) => extensions['source'] === id)
  })
  return hasRoot || Object.values(own?.getTypeMap() ?? {}).some((type) => comesFrom(type, draft))
}

function comesFrom(own: GraphQLNamedType, draft: Draft): boolean {
  if (!isObjectType(own)) return false
  const present = objectTypeOf(draft, own.name)?.getFields() ?? {}
  return Object.entries(own.getFields()).some(
    ([name, { extensions }]) =>
      extensions['origin'] !== undefined && extensions['origin'] === present[name]?.extensions['origin'],
  )
}
