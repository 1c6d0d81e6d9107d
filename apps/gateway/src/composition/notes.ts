import { type GraphQLSchema, type GraphQLField, getNamedType, type GraphQLNamedType } from 'graphql'
import { needsVariesBy } from '../dependencies/varies-by.ts'
import type { Parts } from './parts.ts'
import { statedChanges, statedDependsOn, type VariesBy } from '@vinyasa/invalidation'
import { areUnknown, suggestFor, definitionsIn } from '../coordinates.ts'
import { formatPath, messageOf } from '../errors.ts'
import { firstMistake } from '../texts/first-mistake.ts'
import type { AccessRule } from '../access/access-types.ts'
import { refusalOf, toRequirement } from '../access/rules/requirement.ts'
import type { LiveOptions } from '@vinyasa/core'
import type { GatewayConfig } from '../config/types.ts'
import { deadlinesOf } from '../http/deadlines.ts'
import { declaredSources } from '../sources/kinds.ts'
import { possibleObjects } from '@vinyasa/core/documents'
import type { AnswerSections } from '../answers/answer-types.ts'

type Field = GraphQLField<unknown, unknown>

/**
 * Returns a line for each reason why fields of `Query` cannot be live although their settings allow it, with
 * those fields: a source below them cannot say what it reads of the request, and nobody else says who asks.
 */
export function unknownLiveCallers(schema: GraphQLSchema, { liveQuery = {} }: AnswerSections): string[] {
  if (liveQuery === false || liveQuery.contextKey) return []
  const { fields = {}, defaults = {} } = liveQuery
  const met = new Map<string, string[]>()
  for (const field of Object.values(schema.getQueryType()?.getFields() ?? {})) {
    const written = (field.extensions['liveQuery'] as { readonly enabled?: boolean } | undefined)?.enabled
    const own = fields[field.name]
    const isEnabled = own ? own.enabled !== false : (written ?? defaults.enabled)
    if (isEnabled !== true) continue
    for (const reason of reasonsBelow(schema, field))
      met.set(reason, [...(met.get(reason) ?? []), field.name])
  }
  return [...met].map(
    ([reason, names]) =>
      `${names.map((name) => `Query.${name}`).join(', ')} cannot be live: ${reason}; set liveQuery.contextKey`,
  )
}

/** Returns the reasons at a field and at all that a query can select below it. */
function reasonsBelow(schema: GraphQLSchema, root: Field): Set<string> {
  const reasons = new Set<string>()
  const seen = new Set<GraphQLNamedType>()
  const open: Field[] = [root]
  const ofAll = schema.extensions['variesBy'] as { readonly unknown?: string } | undefined
  if (ofAll?.unknown !== undefined) reasons.add(ofAll.unknown)
  for (let field = open.pop(); field; field = open.pop()) {
    const unknown = (field.extensions['variesBy'] as { readonly unknown?: string } | undefined)?.unknown
    if (unknown !== undefined) reasons.add(unknown)
    for (const object of possibleObjects(schema, getNamedType(field.type))) {
      if (seen.has(object)) continue
      seen.add(object)
      open.push(...Object.values(object.getFields()))
    }
  }
  return reasons
}

/** Limit of the places that a note lists. */
const MAX_LISTED = 10

/**
 * Returns a note on rules that refuse everybody, since nobody is ever known to ask; none if tokens or plugins
 * may say who asks. Keeping fields from everybody may be meant, so that it is no mistake.
 */
function noteUnmetRules(schema: GraphQLSchema, { auth, access = {}, plugins = [] }: GatewayConfig): string[] {
  // Code may say who asks too.
  if (auth || plugins.length > 0) return []
  const { fields = {}, policies = {} } = access
  const mayHold = (name: string): boolean => typeof policies[name] === 'function'
  const inSchema = [...definitionsIn(schema)].map(
    ([coordinate, { extensions }]) => [coordinate, extensions['access'] as AccessRule | undefined] as const,
  )
  const unmet = [...Object.entries(fields), ...inSchema].filter(([, rule]) => {
    const requirement = rule && toRequirement(rule)
    return requirement && refusalOf([requirement], undefined, mayHold)
  })
  const places = [...new Set(unmet.map(([coordinate]) => coordinate))]
  if (places.length === 0) return []
  return [
    `access to ${listed(places)} is always refused because the rules require an authenticated caller, but auth.jwt is not set; set auth.jwt, or add a plugin that sets context.auth`,
  ]
}

function listed(coordinates: readonly string[]): string {
  const more = coordinates.length - MAX_LISTED
  return coordinates.slice(0, MAX_LISTED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** Returns a line that names the fields of code which keep responses out of the cache, as nothing declares what they read. */
function noteUncachedCode(schema: GraphQLSchema, config: GatewayConfig): readonly string[] {
  if (!needsVariesBy(config)) return []
  const fields = [...definitionsIn(schema)].flatMap(([coordinate, { extensions }]) =>
    (extensions['variesBy'] as VariesBy | undefined)?.isPersonal ? [coordinate] : [],
  )
  if (fields.length === 0) return []
  return [
    `responses with ${listed(fields)} are not cached because the request headers that the resolvers read are not declared; declare the headers, or [] if the resolver reads none, for example with dependencies: { '${fields[0]}': { variesBy: [] } }`,
  ]
}

/** Returns a line for each of the config's examples that the schema does not answer. */
function unansweredExamples(
  schema: GraphQLSchema,
  examples: readonly { readonly query: string; readonly variables?: string | undefined }[],
): readonly string[] {
  return examples.flatMap(({ query, variables }, index) => {
    const mistakes = [
      ['query', firstMistake(query, schema)],
      ['variables', variables === undefined ? undefined : mistakeInJson(variables)],
    ] as const
    return mistakes.flatMap(([setting, mistake]) =>
      mistake === undefined ? [] : [`${formatPath(['graphql', 'examples', index, setting])}: ${mistake}`],
    )
  })
}

function mistakeInJson(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

/** Returns a line for each type that a source's statements name and the schema does not have: nothing is known by it. */
function unknownStatedTypes(schema: GraphQLSchema): readonly string[] {
  return [schema.getQueryType(), schema.getMutationType()].flatMap((root) =>
    Object.values(root?.getFields() ?? {}).flatMap((field) => {
      const stated = { changes: statedChanges(field) ?? [], dependsOn: statedDependsOn(field) ?? [] }
      return Object.entries(stated)
        .filter(([, names]) => areUnknown(schema, names))
        .map(([setting, names]) => lineFor(schema, `${root?.name ?? ''}.${field.name}`, setting, names))
    }),
  )
}

function quoted(names: readonly string[]): string {
  return [...new Set(names)].map((name) => `"${name}"`).join(', ')
}

function lineFor(schema: GraphQLSchema, field: string, setting: string, names: readonly string[]): string {
  const [first = ''] = names
  return `${field}: ${setting} lists ${quoted(names)}, but the schema has no such type${suggestFor(schema, first)}`
}

/**
 * Returns a line for each field of `Query` whose live queries wait for types that the schema does not have, and for none that it
 * has.
 */
function unknownLiveTypes(schema: GraphQLSchema, { liveQuery = {} }: GatewayConfig): readonly string[] {
  if (liveQuery === false) return []
  const { fields = {} } = liveQuery
  return Object.values(schema.getQueryType()?.getFields() ?? {}).flatMap((field) =>
    statedTypes(field, fields[field.name])
      .filter((types) => areUnknown(schema, types))
      .map((types) => lineForLive(schema, field.name, types)),
  )
}

/** The types of each list that counts for the field. */
function statedTypes(
  { extensions }: GraphQLField<unknown, unknown>,
  own: LiveOptions | undefined,
): readonly (readonly string[])[] {
  const written = extensions['liveQuery'] as LiveOptions | undefined
  const { triggers = written?.triggers ?? [], dependsOn = written?.dependsOn ?? [] } = own ?? {}
  return [triggers.map((trigger) => trigger.replace(/\..*$/s, '')), dependsOn]
}

function lineForLive(schema: GraphQLSchema, field: string, types: readonly string[]): string {
  const names = [...new Set(types)]
  const near = names.length === 1 ? suggestFor(schema, String(names[0])) : ''
  const listed = quoted(names)
  const waits = `Query.${field}: live queries of this field wait for events of ${listed}, but the schema has no such ${names.length === 1 ? 'type' : 'types'}`
  return `${waits}${near === '' ? '.' : near} Correct triggers or dependsOn, unless external invalidation events use ${names.length === 1 ? 'this type name' : 'these type names'}.`
}

/** Says of each source whose calls may take longer than an answer may take to begin that it is cut off before. */
function lateBackends(config: GatewayConfig): readonly Note[] {
  const { answerTimeoutMs } = deadlinesOf(config.server ?? {})
  return declaredSources(config)
    .filter(({ longestCallMs }) => answerTimeoutMs > 0 && longestCallMs > answerTimeoutMs)
    .map(({ section, name, longestCallMs }) => ({
      source: name,
      note: `${section}.${name}: calls to this source can take up to ${longestCallMs} ms, but server.answerTimeoutMs ends requests whose response has not started after ${answerTimeoutMs} ms; raise server.answerTimeoutMs, or lower the timeouts of the source`,
    }))
}

/** A note on something that may not be as it was meant. */
export interface Note {
  readonly source: string
  readonly note: string
}

/**
 * Notes on what sources left out, or call otherwise than their descriptions do, on what cannot be live, on what nobody may have,
 * and on what is too late. Those that no source has logged are logged.
 */
export function noteAll(
  schema: GraphQLSchema,
  { config, logger, sources }: Pick<Parts, 'config' | 'logger' | 'sources'>,
): readonly Note[] {
  const bySetting = {
    liveQuery: [...unknownLiveCallers(schema, config), ...unknownLiveTypes(schema, config)],
    dependencies: [...unknownStatedTypes(schema), ...noteUncachedCode(schema, config)],
    graphql: unansweredExamples(schema, config.graphql?.examples ?? []),
    access: noteUnmetRules(schema, config),
  }
  const own: readonly Note[] = [
    ...Object.entries(bySetting).flatMap(([source, notes]) => notes.map((note) => ({ source, note }))),
    ...lateBackends(config),
  ]
  for (const { note } of own) logger.warn(note)
  return [...sources.flatMap(({ name, notes }) => notes.map((note) => ({ source: name, note }))), ...own]
}
