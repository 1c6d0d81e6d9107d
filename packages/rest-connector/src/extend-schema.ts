import {
  extendSchema,
  GraphQLSchema,
  isObjectType,
  parse,
  type DocumentNode,
  type GraphQLObjectType,
} from 'graphql'
import type { ContributedField, Contribution } from './contribution.ts'
import { RestConfigError } from './errors.ts'
import type { TypeReference } from './fields.ts'
import { createJsonScalar, createLongScalar } from './scalars.ts'

export interface Extended {
  readonly schema: GraphQLSchema
  /** Fields whose types another source has yet to bring, with the name of the missing type. */
  readonly pending: readonly { readonly field: ContributedField; readonly missing: string }[]
}

const BUILT_IN: ReadonlySet<string> = new Set(['String', 'Int', 'Float', 'Boolean', 'ID'])

/**
 * Adds a connector's fields to a schema, or makes a schema of them. Fields that are there already are left as they
 * are, so that it can run again whenever another source changed the schema. graphql-js's own `extendSchema` does the
 * work: it keeps every resolver, extension and type of the base, where a print-and-rebuild merge would lose some.
 */
export function extendWith(base: GraphQLSchema | null, contribution: Contribution): Extended {
  const start = withScalars(base, contribution)
  const missing = missingTypes(start, contribution)
  const pending: { field: ContributedField; missing: string }[] = []
  const fresh: ContributedField[] = []
  for (const field of contribution.fields) {
    const lacks =
      [field.parent, field.type.name, ...[...field.args.values()].map((type) => type.name)].find((name) =>
        missing.has(name),
      ) ?? missingRequirement(start, contribution, field)
    if (lacks !== undefined) pending.push({ field, missing: lacks })
    else if (!isPresent(start, field, contribution.id)) fresh.push(field)
  }
  if (fresh.length === 0) return { schema: base ?? start, pending }
  const schema = extendSchema(start, documentFor(start, contribution, fresh), { assumeValidSDL: true })
  for (const field of fresh) attach(schema, field)
  return { schema, pending }
}

/** A type is missing when neither the schema nor the connector defines it. */
function missingTypes(schema: GraphQLSchema, { fields, types }: Contribution): Set<string> {
  const known = (name: string): boolean =>
    name === 'Query' || name === 'Mutation' || types.has(name) || schema.getType(name) !== undefined
  const names = fields.flatMap((field) => [
    field.parent,
    field.type.name,
    ...[...field.args.values()].map((type) => type.name),
  ])
  return new Set(names.filter((name) => !BUILT_IN.has(name) && !known(name)))
}

/** A field of the parent that a join reads and that nobody defines. */
function missingRequirement(
  schema: GraphQLSchema,
  { fields }: Contribution,
  { parent, requires = [] }: ContributedField,
): string | undefined {
  if (requires.length === 0) return undefined
  const present = parentType(schema, parent)?.getFields() ?? {}
  const lacking = requires.find(
    (name) =>
      !Object.hasOwn(present, name) && !fields.some((own) => own.parent === parent && own.name === name),
  )
  return lacking === undefined ? undefined : `${parent}.${lacking}`
}

function isPresent(schema: GraphQLSchema, field: ContributedField, id: string): boolean {
  const parent = parentType(schema, field.parent)
  const present = parent?.getFields()[field.name]
  if (!present) return false
  if (present.extensions['source'] === id) return true
  const { origin } = present.extensions
  throw new RestConfigError(
    `field ${field.parent}.${field.name} comes from two places: ` +
      `${typeof origin === 'string' ? origin : "the server's own schema"}, and ${String(field.extensions['origin'])}; ` +
      `rename one of them`,
  )
}

function parentType(schema: GraphQLSchema, name: string): GraphQLObjectType | undefined {
  if (name === 'Query') return schema.getQueryType() ?? undefined
  if (name === 'Mutation') return schema.getMutationType() ?? undefined
  const type = schema.getType(name)
  if (type === undefined || isObjectType(type)) return type
  throw new RestConfigError(
    `type "${name}" is not an object type in this schema, so no REST field can be added to it`,
  )
}

function withScalars(base: GraphQLSchema | null, { fields }: Contribution): GraphQLSchema {
  const used = new Set(
    fields.flatMap(({ type, args }) => [type.name, ...[...args.values()].map((arg) => arg.name)]),
  )
  const scalars = [createJsonScalar(), createLongScalar()].filter(
    ({ name }) => used.has(name) && !base?.getType(name),
  )
  if (base === null) return new GraphQLSchema({ types: scalars })
  if (scalars.length === 0) return base
  const config = base.toConfig()
  return new GraphQLSchema({ ...config, types: [...config.types, ...scalars] })
}

function documentFor(
  schema: GraphQLSchema,
  { types }: Contribution,
  fresh: readonly ContributedField[],
): DocumentNode {
  let sdl = ''
  for (const parent of new Set(fresh.map((field) => field.parent))) {
    const fields = fresh.filter((field) => field.parent === parent)
    const existing = parentType(schema, parent)
    const head = existing ? `extend type ${existing.name}` : `${described(types.get(parent))}type ${parent}`
    sdl += `${head} {\n${fields.map(fieldSdl).join('')}}\n`
    if (!existing && parent === 'Query') sdl += 'extend schema { query: Query }\n'
    if (!existing && parent === 'Mutation') sdl += 'extend schema { mutation: Mutation }\n'
  }
  return parse(sdl, { noLocation: true })
}

function fieldSdl({ name, type, args, description }: ContributedField): string {
  const list = [...args]
    .map(([arg, argType]: [string, TypeReference]) => `${arg}: ${argType.text}`)
    .join(', ')
  return `${described(description)}${name}${list && `(${list})`}: ${type.text}\n`
}

/** JSON's escapes are all escapes of a GraphQL string too. */
function described(description: string | undefined): string {
  return description === undefined ? '' : `${JSON.stringify(description)}\n`
}

function attach(schema: GraphQLSchema, { parent, name, resolve, extensions }: ContributedField): void {
  const field = parentType(schema, parent)?.getFields()[name]
  if (!field) throw new RestConfigError(`field ${parent}.${name} could not be added`)
  if (resolve) field.resolve = resolve
  field.extensions = extensions
}

/** {@link extendWith} for several connectors, until none of them waits for another's types. */
export function extendWithAll(base: GraphQLSchema | null, contributions: readonly Contribution[]): Extended {
  let schema = base
  let pending: Extended['pending'] = []
  let before: number
  do {
    before = pending.length
    const waiting: Extended['pending'][number][] = []
    for (const contribution of contributions) {
      const extended = extendWith(schema, contribution)
      schema = extended.schema
      waiting.push(...extended.pending)
    }
    pending = waiting
  } while (pending.length > 0 && pending.length !== before)
  return { schema: schema ?? new GraphQLSchema({}), pending }
}
